"""The page of findings from top to bottom: summary, questions, limits, tables, how it was made."""

from collections.abc import Sequence

from fieldwork.addresses import PAGE
from fieldwork.markdown_text import literal
from fieldwork.metrics.findings import (
    answers,
    arms,
    drift,
    estimates,
    field,
    group_gaps,
    overview,
    practice,
    raters,
    scores,
    values,
    wordings,
)
from fieldwork.metrics.findings.cautions import limits, warnings
from fieldwork.metrics.findings.design import what_was_done
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.layout import FindingsSection, section_lines, table_lines
from fieldwork.metrics.findings.links import numbered_links
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.findings.question_answers import question_answers
from fieldwork.metrics.findings.questions import question_lines
from fieldwork.metrics.findings.replies import ReplyCounts, UnnamedReplies
from fieldwork.metrics.findings.sections import Section, section_of
from fieldwork.metrics.findings.service import waiting_sentence
from fieldwork.metrics.findings.summary import in_short
from fieldwork.metrics.findings.verdicts import UNDECIDED_VERDICT
from fieldwork.statistics.families import LEVEL

_HOW_TO_READ = (
    "(a…b) is a 95 % interval, and p is corrected over its family ([all tests](#all-tests)). A "
    f"difference is claimed where p < {LEVEL:g}. *Equivalent* means that the whole interval lies within "
    f"the margin. *{UNDECIDED_VERDICT.capitalize()}* is neither; what follows it is the difference that "
    "such a test would detect with a chance of 80 %. Bits measure variety: one bit more is twice as many "
    "answers that are equally frequent."
)


def findings_page(
    study: StudyEvidence,
    replies: Sequence[ReplyCounts],
    unnamed_replies: Sequence[UnnamedReplies],
    figures: Sequence[str],
    registration: str | None = None,
) -> str:
    """The page as Markdown.

    Args:
        replies: what came back under each condition.
        unnamed_replies: models whose replies do not name them.
        figures: names of the study's figures.
        registration: when the study was preregistered, and what changed since.
    """
    outline = study.outline
    lines = [f"# {outline.question or f'Findings of the study {outline.name}'}", ""]
    design = what_was_done(study, replies)
    lines += [design, ""] if design else []
    cautions = warnings(study, replies)
    short = in_short(study, len(cautions))
    lines += ["## In short", "", *(f"- {text}" for text in short), ""]
    for warning in cautions:
        lines += [f"**Warning:** {_sentence(warning)}", ""]
    if registration:
        lines += [f"**Preregistration:** {literal(registration)}", ""]
    lines += question_lines(question_answers(study), outline)
    lines += ["## What this cannot say", ""]
    lines += [f"- {_sentence(text)}" for text in limits(study, replies, unnamed_replies)]
    lines.append("")
    # a section without rows says nothing of this study
    with_rows = sections(study)
    lines += ["## Tables", "", _HOW_TO_READ, ""] if with_rows else []
    for section in with_rows:
        lines += section_lines(section)
    lines += ["## How it was made", "", *_conditions(outline), ""]
    waiting = waiting_sentence(study)
    lines += [f"Waiting: {waiting}.", ""] if waiting else []
    if figures:
        lines += [f"Figures: {', '.join(f'figures/{name}.pdf' for name in figures)}", ""]
    lines += [f"The answers behind every number: {PAGE}", ""]
    lines.append(
        f"Study: {literal(outline.name)}; tables: metrics/\\*.csv; SQL: study.duckdb (docs/data.md)"
    )
    return "\n".join(numbered_links(lines)) + "\n"


def _conditions(outline: StudyOutline) -> list[str]:
    """What the names of conditions in tables and figures stand for."""
    rows = [
        (label, outline.phrase(name))
        for name, label in outline.conditions.items()
        if outline.phrase(name) != label
    ]
    return table_lines([("In tables and figures", "Asked"), *rows]) if rows else []


SECTIONS: Sequence[Section] = (
    overview.PRIMARY_COMPARISONS,
    answers.WHO_ASKS,
    answers.USERS_AND_CONTEXTS,
    answers.DISTANCE,
    answers.OPTIONS_MOVED,
    *estimates.measure_sections(),
    values.VALUES,
    scores.SCORES,
    scores.PLACES,
    wordings.QUESTIONS_PUT_OTHERWISE,
    wordings.ANSWERS_THAT_CHANGE,
    group_gaps.GROUP_GAPS,
    group_gaps.GROUP_OPTIONS,
    practice.PRACTICE,
    practice.PRACTICE_DROPS,
    drift.DRIFT,
    arms.ARMS,
    scores.NOVELTY,
    scores.CATEGORIES,
    scores.EXACT_ESTIMATES,
    field.GROUPS_OF_USERS,
    *estimates.field_sections(),
    field.PREDICTORS,
    field.NEAR_THE_FIELD,
    raters.MEMORY,
    raters.INTERVENTIONS,
    raters.RATERS,
    field.CALIBRATION,
    overview.FAMILIES,
)
"""The sections with tables, in their order."""


def sections(study: StudyEvidence) -> list[FindingsSection]:
    """The sections that say something of a study."""
    return [section for one in SECTIONS if (section := section_of(one, study))]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
