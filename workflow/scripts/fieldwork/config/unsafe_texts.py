"""Texts that no config may hold: keys and passwords, and what a browser would run.

A config is published with the results, and Snakemake keeps it beside them: secrets live in the
environment alone. Snakemake's report writes it into a page as it is, so a text that ends a script there
could begin another. Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import re
from collections.abc import Iterator

from fieldwork.config.layers import Config, settings_in
from fieldwork.masking import environment_secrets, has_key_form, without_keys

SHORTEST_SECRET = 12
"""Letters of a variable's value that are no setting's by chance."""


# what changes how HTML reads the rest of a script
_RUN = re.compile(r"<(?:/?script|!--)", re.IGNORECASE)


def secrets_in(config: Config) -> Iterator[str]:
    """Settings that hold a key, a sentence each; the key is not in it."""
    secrets = [one for one in environment_secrets() if len(one) >= SHORTEST_SECRET]
    for setting, text in _texts(config):
        if has_key_form(text) or any(one in text for one in secrets):
            yield (
                f"{without_keys(setting)}: a key or a password stands here, and a config is published "
                f"with the results; take it out, set it in the environment, and name that variable in "
                f"models.*.api_key_env (or token_env, headers_env)"
            )


def markup_in(config: Config) -> Iterator[str]:
    """Settings that hold what would run in the report, a sentence each."""
    for setting, text in _texts(config):
        if _RUN.search(text):
            yield (
                f"{_RUN.sub('…', setting)}: a browser would run a part of this text in the report, as it "
                f"holds <script, </script or <!--; write it without these"
            )


def _texts(config: Config) -> Iterator[tuple[str, str]]:
    """Every text, a key too, with its setting."""
    for setting, key, value in settings_in(config):
        yield from ((setting, text) for text in (key, value) if isinstance(text, str))
