"""The page of findings from top to bottom: warnings, summary, tables, limits."""

from collections.abc import Sequence

from fieldwork.metrics.findings import answers, scores
from fieldwork.metrics.findings.calibration import calibration
from fieldwork.metrics.findings.cautions import limits, warnings
from fieldwork.metrics.findings.evidence import FindingsTables
from fieldwork.metrics.findings.field import field_sections
from fieldwork.metrics.findings.layout import FindingsSection, section_lines
from fieldwork.metrics.findings.outline import StudyOutline, markdown_outline
from fieldwork.metrics.findings.replies import ReplyCounts, UnnamedReplies
from fieldwork.metrics.findings.summary import in_short
from fieldwork.metrics.findings.verdicts import LEVEL, NOT_SHOWN

_HOW_TO_READ = (
    f"In tables, (a…b) is a 95 % interval, and p is corrected after Holm. A verdict claims a "
    f"difference where p < {LEVEL:g}; *{NOT_SHOWN}* does not mean that there is none."
)


def findings_page(
    tables: FindingsTables,
    replies: Sequence[ReplyCounts],
    unnamed_replies: Sequence[UnnamedReplies],
    study: StudyOutline,
    figures: Sequence[str],
) -> str:
    """The page as Markdown.

    Args:
        replies: what came back under each condition.
        unnamed_replies: models whose replies do not name them.
        figures: names of the study's figures.
    """
    outline = markdown_outline(study)
    lines = [f"# Findings of the study {outline.name}", ""]
    for warning in warnings(tables, replies, outline):
        lines += [f"**Warning:** {warning}.", ""]
    for note in outline.notes:
        lines += [f"**Note:** {_sentence(note)}", ""]
    lines += ["## In short", "", *(f"- {text}" for text in in_short(tables, outline)), ""]
    lines += [_HOW_TO_READ, ""]
    for section in sections(tables, outline):
        lines += section_lines(section)
    lines += ["## What this cannot say", ""]
    lines += [f"- {_sentence(text)}" for text in limits(tables, replies, unnamed_replies, outline)]
    lines.append("")
    if figures:
        lines += [f"Figures: {', '.join(f'figures/{name}.pdf' for name in figures)}", ""]
    lines.append("Tables: metrics/\\*.csv; SQL: study.duckdb (docs/data.md)")
    return "\n".join(lines) + "\n"


def sections(tables: FindingsTables, outline: StudyOutline) -> list[FindingsSection]:
    """The sections with tables, in order."""
    return [
        answers.who_asks(tables.variance, outline),
        answers.distance(tables.comparisons, outline),
        answers.options_moved(tables.shifts, outline),
        answers.heterogeneity(tables.prompt_means, outline),
        scores.scores(tables.accuracy, tables.score_comparisons, outline),
        # without a task of a leaderboard's own questions there are no places
        *([scores.places(tables.ranks, outline)] if tables.ranks else []),
        scores.novelty(tables.novelty, outline),
        scores.categories(tables.categories, outline),
        *field_sections(
            tables.group_differences, tables.rank_agreement, tables.item_agreement, outline
        ),
        *([calibration(tables.calibration, outline)] if tables.calibration else []),
    ]


def _sentence(text: str) -> str:
    return f"{text.rstrip('.')}."
