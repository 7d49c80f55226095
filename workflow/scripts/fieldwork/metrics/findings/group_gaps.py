"""The sections about questions that are put for groups of people, and the sentence about them."""

from collections.abc import Mapping

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.measures import GAPS
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.sections import ARM, Section, TableColumn, number, word
from fieldwork.metrics.findings.wording import (
    NOTHING,
    TENTHS_OF_PERCENT,
    count_phrase,
    percent,
    points,
)
from fieldwork.records.robustness import GroupGap

_NAMES: Mapping[str, str] = {
    "accuracy_gap": "score, best group less worst",
    "excess_flips": "other letters for another group",
    "excess_overlap": "options in common with another group",
}


def _rows(study: StudyEvidence, *metrics: str) -> list[GroupGap]:
    """Rows of some metrics, in the study's order; the clean questions need not be asked themselves."""
    rows = [row for row in study.of(GroupGap) if row.metric in metrics]
    tasks = study.outline.tasks
    return study.in_order(
        rows, tasks=[*tasks, *sorted({row.origin for row in rows}.difference(tasks))]
    )


def _gaps(study: StudyEvidence) -> list[GroupGap]:
    return _rows(study, *GAPS)


def _option_gaps(study: StudyEvidence) -> list[GroupGap]:
    return _rows(study, "option_gap")


def _pair(row: GroupGap) -> str:
    return f"{literal(row.group or '')} − {literal(row.other_group or '')}"


def _share(row: GroupGap, group: str | None, study: StudyEvidence) -> str:
    """Share of a group's answers that give the option of a row."""
    option = {"item_id": row.item_id, "option": row.option, "metric": "option_share"}
    share = study.value_beside("estimate", GroupGap, row, group=group, **option)
    return NOTHING if share is None else percent(share, digits=1)


GROUP_GAPS = Section(
    "Questions put for groups of people",
    "Are groups of people answered alike? By chance is what the difference is on average where the "
    "answers are dealt to the groups anew. Letters and options are beyond those of asking again.",
    ["group_gaps"],
    _gaps,
    [
        *ARM,
        TableColumn("Measure", word("metric", _NAMES)),
        TableColumn("Groups", lambda row, _: _pair(row) if row.group else f"{row.n_groups} groups"),
        TableColumn("Points", number("estimate", TENTHS_OF_PERCENT)),
        TableColumn("By chance", number("expected_same", TENTHS_OF_PERCENT)),
    ],
    "group_gap",
)

GROUP_OPTIONS = Section(
    "Options given to groups of people",
    "Is an option given to one group more often than to another? The groups with the largest and the "
    "smallest share are named.",
    ["group_gaps"],
    _option_gaps,
    [
        *ARM,
        TableColumn("Prompt", lambda row, _: literal(row.item_id or "")),
        TableColumn("Option", lambda row, _: literal(row.option or "")),
        TableColumn(
            "Most often",
            lambda row, study: f"{literal(row.group or '')} {_share(row, row.group, study)}",
        ),
        TableColumn(
            "Least often",
            lambda row, study: (
                f"{literal(row.other_group or '')} {_share(row, row.other_group, study)}"
            ),
        ),
    ],
    "group_option",
)


def group_gap_sentence(study: StudyEvidence) -> str:
    """Whether groups of people are answered alike; empty without groups."""
    if not study.of(GroupGap):
        return ""
    phrases = [_gap_phrase(study), _option_phrase(study)]
    return (
        "; ".join(filter(None, phrases))
        or "whether groups of people are answered alike cannot be tested"
    )


def _gap_phrase(study: StudyEvidence) -> str:
    tests = study.tests("group_gap", _gaps(study))
    differences = study.differences("group_gap", tests)
    if not differences:
        return "no difference between groups of people is shown" if tests else ""
    furthest = max(
        differences, key=lambda row: abs((row.estimate or 0.0) - (row.expected_same or 0.0))
    )
    amount = points(furthest.estimate or 0.0, digits=1)
    groups = f", {_pair(furthest)}" if furthest.group else ""
    return (
        f"{len(differences):,} of {count_phrase(len(tests), 'test')} with a difference between groups of "
        f"people, most in the {_NAMES[furthest.metric]} ({amount}{groups})"
    )


def _option_phrase(study: StudyEvidence) -> str:
    tests = study.tests("group_option", _option_gaps(study))
    differences = study.differences("group_option", tests)
    if not differences:
        return "no option is shown to be given to one group more often" if tests else ""
    row = max(differences, key=lambda row: row.estimate or 0.0)
    sides = [
        f"{_share(row, group, study)} to {literal(group or '')}"
        for group in (row.group, row.other_group)
    ]
    return (
        f"{len(differences):,} of {count_phrase(len(tests), 'option')} given to one group more often, "
        f"most {literal(row.option or '')}: {', '.join(sides)}"
    )
