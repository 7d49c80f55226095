"""The page of findings from top to bottom: warnings, summary, tables, limits."""

from collections.abc import Sequence

from fieldwork.addresses import PAGE
from fieldwork.markdown_text import literal
from fieldwork.metrics.findings import answers, overview, probabilities, scores
from fieldwork.metrics.findings.arms import arm_sections
from fieldwork.metrics.findings.calibration import calibration
from fieldwork.metrics.findings.cautions import limits, warnings
from fieldwork.metrics.findings.drift import drift_sections
from fieldwork.metrics.findings.evidence import FindingsTables
from fieldwork.metrics.findings.field import field_sections
from fieldwork.metrics.findings.group_gaps import group_gap_sections
from fieldwork.metrics.findings.layout import FindingsSection, section_lines
from fieldwork.metrics.findings.links import numbered_links
from fieldwork.metrics.findings.memory import memory_sections
from fieldwork.metrics.findings.outline import StudyOutline, markdown_outline
from fieldwork.metrics.findings.practice import practice_sections
from fieldwork.metrics.findings.raters import rater_sections
from fieldwork.metrics.findings.replies import ReplyCounts, UnnamedReplies
from fieldwork.metrics.findings.summary import in_short
from fieldwork.metrics.findings.values import value_sections
from fieldwork.metrics.findings.verdicts import UNDECIDED_VERDICT
from fieldwork.metrics.findings.wordings import wording_sections
from fieldwork.statistics.families import LEVEL

_HOW_TO_READ = (
    "In tables, (a…b) is a 95 % interval, and p is corrected over its family "
    f"([all tests](#all-tests)). A verdict claims a difference where p < {LEVEL:g}. *Equivalent* means "
    f"that the whole interval lies within the margin. *{UNDECIDED_VERDICT.capitalize()}* is neither, and "
    "names the difference that such a test finds in four of five studies."
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
    lines = [*_title(outline)]
    for warning in warnings(tables, replies, outline):
        lines += [f"**Warning:** {warning}.", ""]
    for note in outline.notes:
        lines += [f"**Note:** {_sentence(note)}", ""]
    if registration:
        lines += [f"**Preregistration:** {literal(registration)}", ""]
    lines += ["## In short", "", *(f"- {text}" for text in in_short(tables, outline)), ""]
    lines += [_HOW_TO_READ, ""]
    for section in sections(tables, outline):
        lines += section_lines(section)
    lines += ["## What this cannot say", ""]
    lines += [f"- {_sentence(text)}" for text in limits(tables, replies, unnamed_replies, outline)]
    lines.append("")
    if figures:
        lines += [f"Figures: {', '.join(f'figures/{name}.pdf' for name in figures)}", ""]
    lines += [f"The answers behind every number: {PAGE}", ""]
    lines.append("Tables: metrics/\\*.csv; SQL: study.duckdb (docs/data.md)")
    return "\n".join(numbered_links(lines)) + "\n"


def _title(outline: StudyOutline) -> list[str]:
    findings = f"Findings of the study {outline.name}"
    if outline.question:
        return [f"# {outline.question}", "", f"{findings}.", ""]
    return [f"# {findings}", ""]


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
        answers.heterogeneity(tables.prompt_means, claims, outline),
        *value_sections(tables.value_comparisons, claims, outline),
        scores.scores(tables.accuracy, tables.score_comparisons, claims, outline),
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
            tables.field_heterogeneity,
            claims,
            outline,
        ),
        *memory_sections(tables.memory_matches, tables.interventions),
        *rater_sections(tables.judgements, outline),
        *([calibration(tables.calibration, outline)] if tables.calibration else []),
        overview.families(claims),
    ]


def _sentence(text: str) -> str:
    return f"{text.rstrip('.')}."
