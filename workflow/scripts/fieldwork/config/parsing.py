"""How answers are read: settings that readers take as they are.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from typing import Any

Config = dict[str, Any]


def value_rules(config: Config) -> Config:
    """What counts where an answer to a scale or a number gives no one value."""
    return {name: config["parsing"][name] for name in ("several_numbers", "ranges")}


def naming_settings(config: Config) -> Config:
    """How spellings become names; keys are those of `NameSettings` in `parsing/canonical_answers`."""
    settings = {name: config["parsing"][name] for name in ("near_duplicates", "cut_lists")}
    return {**settings, "smallest_cell": config["metrics"]["smallest_cell"]}
