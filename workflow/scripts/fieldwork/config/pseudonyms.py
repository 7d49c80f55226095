"""The keys of pseudonyms that a study has, and where they may lie.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from typing import Any

Config = dict[str, Any]


def corpus_key_file(config: Config, corpus: str) -> str | None:
    """The key of a corpus's users; None where its ids are public."""
    return _key_file(config, config["corpora"][corpus])


def recording_key_file(config: Config, recording: str) -> str | None:
    """The key of a recording's users; None where its ids are public."""
    return _key_file(config, config["recordings"][recording])


def _key_file(config: Config, entry: Config) -> str | None:
    return config["study"]["key_file"] if entry["ids"] == "secret" else None
