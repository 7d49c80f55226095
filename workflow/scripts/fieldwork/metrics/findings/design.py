"""What was done in a study, in one paragraph: which model, asked what, how often, and by whom."""

from collections.abc import Sequence
from statistics import median_low

from fieldwork.metrics.findings.outline import StudyOutline, study_rows
from fieldwork.metrics.findings.replies import ReplyCounts
from fieldwork.metrics.findings.wording import count_phrase, join_words
from fieldwork.records.field import FIELD

MOST_NAMES = 3
"""Models that are named; of more there is the number."""


def what_was_done(replies: Sequence[ReplyCounts], outline: StudyOutline) -> str:
    """Models, questions, repeats and users, in words; empty before any answer."""
    rows = study_rows(replies, outline, [*outline.conditions])
    n_questions = sum({row.task: row.n_questions for row in rows}.values())
    if not n_questions:
        return ""
    labels = [*outline.models.values()]
    models = join_words(labels) if len(labels) <= MOST_NAMES else f"{len(labels)} models"
    repeats = [
        phrase
        for condition in (outline.baseline, *outline.controls)
        if (phrase := _repeats(rows, condition, outline))
    ]
    sentences = [f"{models} answered {count_phrase(n_questions, 'question')}{_list_of(repeats)}."]
    others = [
        outline.label(name)
        for name in dict.fromkeys(row.condition for row in rows)
        if name not in (outline.baseline, *outline.controls, *outline.users)
    ]
    sentences += [f"The same was asked under other conditions: {join_words(others)}."] if others else []
    users = [row for row in rows if row.condition in outline.simulated_users and row.n_users]
    if users:
        n_users = max(row.n_users for row in users)
        names = dict.fromkeys(outline.phrase(row.condition) for row in users)
        sentences.append(
            f"It then answered for {n_users:,} simulated users: {join_words([*names])}."
        )
        corpora = join_words(outline.corpora)
        origin = f" from conversations of *{corpora}*" if corpora else ""
        sentences.append(f"Users are simulated{origin}; no person took part in that.")
    n_people = max((row.n_users for row in rows if row.condition == FIELD), default=0)
    if n_people:
        sentences.append(
            f"Beside them stand answers that {n_people:,} people got in their own chats."
        )
    return " ".join(sentences)


def _list_of(repeats: Sequence[str]) -> str:
    return f", {join_words(repeats)}" if repeats else ""


def _repeats(rows: Sequence[ReplyCounts], condition: str, outline: StudyOutline) -> str:
    """`40 times each without a user`."""
    counts = [
        row.n // row.n_questions for row in rows if row.condition == condition and row.n_questions
    ]
    if not counts:
        return ""
    n = median_low(counts)
    often = "once" if n == 1 else f"{n:,} times each"
    return f"{often} {outline.phrase(condition)}"
