"""The page of findings from top to bottom: summary, questions, limits, tables, how it was made."""

from collections.abc import Sequence

from fieldwork.addresses import PAGE
from fieldwork.markdown_text import literal
from fieldwork.metrics.findings import answers, overview, probabilities, scores
from fieldwork.metrics.findings.arms import arm_sections
from fieldwork.metrics.findings.calibration import calibration
from fieldwork.metrics.findings.cautions import limits, warnings
from fieldwork.metrics.findings.design import what_was_done
from fieldwork.metrics.findings.drift import drift_sections
from fieldwork.metrics.findings.estimates import measure_sections
from fieldwork.metrics.findings.evidence import FindingsTables
from fieldwork.metrics.findings.field import field_sections
from fieldwork.metrics.findings.group_gaps import group_gap_sections
from fieldwork.metrics.findings.layout import FindingsSection, section_lines, table_lines
from fieldwork.metrics.findings.links import numbered_links
from fieldwork.metrics.findings.memory import memory_sections
from fieldwork.metrics.findings.outline import StudyOutline, markdown_outline
from fieldwork.metrics.findings.practice import practice_sections
from fieldwork.metrics.findings.question_answers import question_answers
from fieldwork.metrics.findings.questions import question_lines
from fieldwork.metrics.findings.raters import rater_sections
from fieldwork.metrics.findings.replies import ReplyCounts, UnnamedReplies
from fieldwork.metrics.findings.service import waiting_sentence
from fieldwork.metrics.findings.summary import in_short
from fieldwork.metrics.findings.values import value_sections
from fieldwork.metrics.findings.verdicts import UNDECIDED_VERDICT
from fieldwork.metrics.findings.wordings import wording_sections
from fieldwork.statistics.families import LEVEL

_HOW_TO_READ = (
    "(a…b) is a 95 % interval, and p is corrected over its family ([all tests](#all-tests)). A "
    f"difference is claimed where p < {LEVEL:g}. *Equivalent* means that the whole interval lies within "
    f"the margin. *{UNDECIDED_VERDICT.capitalize()}* is neither; what follows it is the difference that "
    "such a test would detect with a chance of 80 %. Bits measure variety: one bit more is twice as many "
    "answers that are equally frequent."
)


def findings_page(
    tables: FindingsTables,
    replies: Sequence[ReplyCounts],
    unnamed_replies: Sequence[UnnamedReplies],
    study: StudyOutline,
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
    outline = markdown_outline(study)
    lines = [f"# {outline.question or f'Findings of the study {outline.name}'}", ""]
    design = what_was_done(replies, outline)
    lines += [design, ""] if design else []
    cautions = warnings(tables, replies, outline)
    short = in_short(tables, outline, len(cautions))
    lines += ["## In short", "", *(f"- {text}" for text in short), ""]
    for warning in cautions:
        lines += [f"**Warning:** {_sentence(warning)}", ""]
    if registration:
        lines += [f"**Preregistration:** {literal(registration)}", ""]
    lines += question_lines(question_answers(tables, outline), outline)
    lines += ["## What this cannot say", ""]
    lines += [f"- {_sentence(text)}" for text in limits(tables, replies, unnamed_replies, outline)]
    lines.append("")
    # a section without rows says nothing of this study
    with_rows = [section for section in sections(tables, outline) if section.findings]
    lines += ["## Tables", "", _HOW_TO_READ, ""] if with_rows else []
    for section in with_rows:
        lines += section_lines(section)
    lines += ["## How it was made", "", *_conditions(outline), ""]
    waiting = waiting_sentence(tables.service, outline)
    lines += [f"Waiting: {waiting}.", ""] if waiting else []
    if figures:
        lines += [f"Figures: {', '.join(f'figures/{name}.pdf' for name in figures)}", ""]
    lines += [f"The answers behind every number: {PAGE}", ""]
    lines.append(
        f"Study: {literal(study.name)}; tables: metrics/\\*.csv; SQL: study.duckdb (docs/data.md)"
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


def sections(tables: FindingsTables, outline: StudyOutline) -> list[FindingsSection]:
    """The sections with tables, in order."""
    claims, nests, exact = tables.claims, tables.users_and_contexts, tables.exact_estimates
    return [
        overview.primary_comparisons(claims, outline),
        answers.who_asks(tables.variance, claims, outline),
        # only studies that ask some users again, with other conversations
        *([answers.users_and_contexts(nests, claims, outline)] if nests else []),
        answers.distance(tables.comparisons, claims, outline),
        answers.options_moved(tables.shifts, claims, outline),
        *measure_sections(tables.estimates, claims, outline),
        *value_sections(tables.value_comparisons, claims, outline),
        scores.scores(tables.estimates, tables.score_spreads, claims, outline),
        # without a task of a leaderboard's own questions there are no places
        *([scores.places(tables.ranks, outline)] if tables.ranks else []),
        *wording_sections(tables.robustness, claims, outline),
        *group_gap_sections(tables.group_gaps, claims, outline),
        *practice_sections(
            tables.practice, tables.practice_turns, tables.practice_drops, claims, outline
        ),
        *drift_sections(tables.drift, outline),
        *arm_sections(tables.arm_tests, outline),
        scores.novelty(tables.novelty, claims, outline),
        scores.categories(tables.categories, claims, outline),
        # only models that state the probabilities of their answers
        *([probabilities.exact_estimates(exact, outline)] if exact else []),
        *field_sections(
            tables.group_differences,
            tables.rank_agreement,
            tables.item_agreement,
            tables.estimates,
            claims,
            outline,
        ),
        *memory_sections(tables.memory_matches, tables.interventions),
        *rater_sections(tables.judgements, outline),
        *([calibration(tables.calibration, outline)] if tables.calibration else []),
        overview.families(claims),
    ]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
