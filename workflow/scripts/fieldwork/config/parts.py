"""Which parts a study has, and so which tables.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from typing import Any

from fieldwork.config.figures import has_times, has_values
from fieldwork.config.filling import judging_of
from fieldwork.config.layers import Config
from fieldwork.config.memory import memory_conditions
from fieldwork.config.nests import nests_of
from fieldwork.config.settings import controls_of
from fieldwork.config.variants import origins_of
from fieldwork.config.waves import waves_of
from fieldwork.records.columns import Part

MODELS_IN_ORDER = 3
"""Models of which a study can say whether their order changes."""


def parts_of(config: Config) -> set[Part]:
    """The parts of a study, by what its config holds."""
    variants = origins_of(config)
    contents: dict[Part, Any] = {
        "every study": True,
        "arms": config["arms"],
        "controls": controls_of(config),
        "nests": nests_of(config),
        "values": has_values(config),
        "variants": variants,
        # the shares of a drop are of questions put otherwise, whatever the number of models
        "practice": variants or len(config["study"]["models"]) >= MODELS_IN_ORDER,
        "service": has_times(config),
        "waves": len(waves_of(config)) > 1,
        "field": config["field"],
        "calibration": config["field"] or config["calibration"]["weights"],
        "judging": config["judging"],
        "memory": memory_conditions(config),
        "learning": judging_of(config)["learn"],
        "memory reference": memory_conditions(config) and config["memory"]["reference"],
    }
    return {part for part, content in contents.items() if content}
