"""The keys of pseudonyms that a study has, and where they may lie.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterator
from pathlib import Path
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


def broken_key_files(config: Config) -> Iterator[str]:
    """What is wrong with the places of keys, a sentence each."""
    for section in ("study", "field", "judging"):
        key_file = (config[section] or {}).get("key_file", "")
        if Path(key_file).parts[:1] == ("results",):
            yield (
                f"{section}.key_file: {key_file} lies under results, which may be deleted and shared; "
                f"keep the key elsewhere, as in resources/{section}/key"
            )
