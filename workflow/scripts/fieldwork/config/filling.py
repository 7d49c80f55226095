"""A config held to its sections: defaults filled in, or the one sentence on what does not fit.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import Any

from pydantic import ValidationError

from fieldwork.config.layers import Config
from fieldwork.config.mistakes import plainest_mistake
from fieldwork.sections.base import ConfigSection
from fieldwork.sections.judging import JudgingSection
from fieldwork.sections.whole import StudyConfig


def fill(config: Config, measures: Sequence[str] = ()) -> str | None:
    """Fill the defaults of all sections into `config`, in place.

    Args:
        measures: declared measures, which primary comparisons may name too.

    Returns:
        What does not fit, beginning with the setting; None where all does.
    """
    _write_dates_as_text(config)
    try:
        sections = StudyConfig.model_validate(config, context=tuple(measures))
    except ValidationError as error:
        return plainest_mistake(error, config)
    _fill_in(config, sections)
    return None


def judging_of(config: Config) -> Config:
    """The section `judging`; one in which nothing is judged where the study has none."""
    section: Config = config["judging"] or _no_judging()
    return section


@cache
def _no_judging() -> Config:
    return JudgingSection.model_construct(scales={}).model_dump()


def _write_dates_as_text(value: Any) -> None:
    # YAML turns an unquoted 2023-05-01 into a date, which no setting is
    pairs = value.items() if isinstance(value, dict) else ()
    for key, inner in [*pairs, *(enumerate(value) if isinstance(value, list) else ())]:
        if isinstance(inner, date):
            value[key] = inner.isoformat()
        else:
            _write_dates_as_text(inner)


def _fill_in(settings: Any, part: Any) -> None:
    """Put what a user left out into `settings`, as `part` has it; what a user wrote stays as it is.

    So 1 stays a whole number where a section has 1.0, and no key changes its place.
    """
    if isinstance(part, ConfigSection):
        for name, value in part.defaults().items():
            settings.setdefault(name, value)
        pairs = [(settings[name], getattr(part, name)) for name in part.model_fields_set]
    elif isinstance(part, dict):
        pairs = [(settings[name], value) for name, value in part.items()]
    elif isinstance(part, list):
        pairs = list(zip(settings, part, strict=True))
    else:
        return
    for inner, value in pairs:
        _fill_in(inner, value)
