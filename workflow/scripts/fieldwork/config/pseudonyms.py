"""The keys of pseudonyms that a study has, and where they may lie.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from fieldwork.config.layers import Config


def key_file_of(config: Config, entry: Config) -> str | None:
    """The key of the users of a corpus or a recording; None where its ids are public."""
    return config["study"]["key_file"] if entry["ids"] == "secret" else None
