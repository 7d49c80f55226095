"""The sections of declared measures: a section for each question of `fieldwork/measures` with tests."""

from collections.abc import Iterator
from functools import partial

from fieldwork.estimates.declaration import Measure, ReaderQuestion
from fieldwork.measures import measures, questions
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.sections import (
    ARM,
    Section,
    TableColumn,
    count,
    interval,
    number,
    p_value,
    words_of_style,
)
from fieldwork.metrics.findings.verdicts import BASELINE
from fieldwork.metrics.findings.wording import (
    NOTHING,
    NumberStyle,
    p_cell,
)
from fieldwork.records.estimates import Estimate


def measure_sections() -> Iterator[Section]:
    """The means over prompts of each question, and whether they are the baseline's."""
    for name, question in questions().items():
        claimed_measures = [measure for measure in question.measures if measure.is_claimed]
        if claimed_measures:
            yield _section(name, question, claimed_measures)


def _section(name: str, question: ReaderQuestion, claimed_measures: list[Measure]) -> Section:
    is_one = len(claimed_measures) == 1
    has_n = all(measure.of == "options" for measure in claimed_measures)
    has_prompts = any(measure.is_for_other_prompts for measure in claimed_measures)
    return Section(
        question.title,
        question.sentence,
        [f"estimates/{name}"],
        partial(_means, [measure.name for measure in claimed_measures]),
        [
            *ARM,
            TableColumn("" if is_one else "Measure", words_of_style(_style)),
            TableColumn(claimed_measures[0].title if is_one else "Mean", interval("value", _style)),
            TableColumn("n" if has_n else "", lambda row, _: str(row.n_equal)),
            TableColumn("Users or reruns", count("n_units")),
            TableColumn("Difference", _DIFFERENCE),
            TableColumn("For prompts like these" if has_prompts else "", _for_prompts),
            TableColumn("Prompts higher", _prompts_higher),
            TableColumn("p", lambda row, study: p_cell(study.claims.p_value(row.measure, row))),
        ],
        lambda row, study: (
            BASELINE if _is_reference(row, study) else study.verdict(row.measure, row)
        ),
        _is_reference,
    )


def _means(names: list[str], study: StudyEvidence) -> list[Estimate]:
    outline = study.outline
    conditions = [outline.baseline, *outline.users, *outline.controls]
    return [
        row
        for name in names
        for row in study.rows(
            Estimate, conditions, measure=name, item_id=None, reference="baseline"
        )
    ]


def field_sections() -> Iterator[Section]:
    """The means over prompts of each question that is tested against real users, beside theirs."""
    for name, question in questions().items():
        for measure in question.measures:
            if measure.beside_field:
                yield _field_section(name, question, measure, measure.beside_field)


def _field_section(name: str, question: ReaderQuestion, measure: Measure, claim: str) -> Section:
    return Section(
        f"{question.title} beside the field",
        f"Are answers as real users have them? {measure.title}, mean over prompts; above 0 the answers "
        f"of the condition are {measure.directions[0]}.",
        [f"estimates/{name}"],
        lambda study: study.rows(Estimate, measure=measure.name, reference="field"),
        [
            *ARM,
            TableColumn(measure.title, number("value", _style)),
            TableColumn("Field", lambda row, _: _style(row).number(_value_of_field(row))),
            TableColumn("n", count("n_equal")),
            TableColumn("Participants", count("n_units_versus")),
            TableColumn("Difference", _DIFFERENCE),
            TableColumn("Prompts", count("n_items")),
            TableColumn("p", p_value(claim)),
        ],
        claim,
    )


def _is_reference(row: Estimate, study: StudyEvidence) -> bool:
    return row.condition == study.outline.baseline and row.value is not None


def _style(row: Estimate) -> NumberStyle:
    measure = measures()[row.measure]
    return NumberStyle(measure.title, measure.digits, measure.scale)


_DIFFERENCE = interval(
    "difference", lambda row: _style(row).as_difference, "difference_low", "difference_high"
)


def _value_of_field(row: Estimate) -> float | None:
    if row.value is None or row.difference is None:
        return None
    return row.value - row.difference


def _for_prompts(row: Estimate, _: StudyEvidence) -> str:
    """An interval without its value."""
    low, high = row.prompts_difference_low, row.prompts_difference_high
    if low is None or high is None:
        return NOTHING
    return "…".join(map(_style(row).number, (low, high)))


def _prompts_higher(row: Estimate, study: StudyEvidence) -> str:
    is_baseline = row.condition == study.outline.baseline
    return f"{NOTHING if row.n_higher is None or is_baseline else row.n_higher}/{row.n_items}"
