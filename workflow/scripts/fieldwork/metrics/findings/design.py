"""What was done in a study, in one paragraph: which model, asked what, how often, and by whom."""

from collections.abc import Sequence
from statistics import median_low

from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.findings.replies import ReplyCounts
from fieldwork.metrics.findings.wording import count_phrase, join_words
from fieldwork.records.field import FIELD

MOST_NAMES = 3
"""Models that are named; of more there is the number."""


def what_was_done(study: StudyEvidence, replies: Sequence[ReplyCounts]) -> str:
    """Models, questions, repeats and users, in words; empty before any answer."""
    outline = study.outline
    rows = study.in_order(replies)
    by_task: dict[str, int] = {}
    for row in rows:
        by_task[row.task] = max(by_task.get(row.task, 0), row.n_questions)
    n_questions = sum(by_task.values())
    if not n_questions:
        return ""
    labels = [*outline.models.values()]
    models = join_words(labels) if len(labels) <= MOST_NAMES else f"{len(labels)} models"
    questions = count_phrase(n_questions, "question")
    n_texts = sum(
        key.task in by_task and item.kind == "text" for key, item in outline.questions.items()
    )
    questions += f" ({n_texts:,} in free text, which is not compared)" if n_texts else ""
    sentences = [f"{models} answered {questions}{_list_of(_repeats(rows, outline))}."]
    other_phrases = [
        outline.phrase(name)
        for name in dict.fromkeys(row.condition for row in rows)
        if name not in (outline.baseline, *outline.controls, *outline.users)
    ]
    if len(outline.waves) > 1:
        # of many waves only the ends are shown
        other_phrases = [
            f"again in {count_phrase(len(outline.waves) - 1, 'later wave')}, to {outline.waves[-1]}"
        ]
    sentences += [f"The same was asked {join_words(other_phrases)}."] if other_phrases else []
    users = [row for row in rows if row.condition in outline.simulated_users and row.n_users]
    if users:
        n_users = count_phrase(max(row.n_users for row in users), "simulated user")
        phrases = dict.fromkeys(outline.phrase(row.condition) for row in users)
        sentences.append(f"Then the same for {n_users}: {join_words([*phrases])}.")
        corpora = join_words(outline.corpora)
        origin = f", made from conversations in the corpus *{corpora}*" if corpora else ""
        sentences.append(f"These users are simulated{origin}.")
    n_people = max((row.n_users for row in rows if row.condition == FIELD), default=0)
    if n_people:
        people = "1 real person" if n_people == 1 else f"{n_people:,} real people"
        sentences.append(f"Beside that, {people} asked the questions in their own chats.")
    return " ".join(sentences)


def _list_of(repeats: Sequence[str]) -> str:
    return f", {join_words(repeats)}" if repeats else ""


def _repeats(rows: Sequence[ReplyCounts], outline: StudyOutline) -> list[str]:
    """`40 times each without a user`, `40 times more to see what chance does`."""
    parts = []
    for name, ending in (
        (outline.baseline, outline.phrase(outline.baseline)),
        *((control, "to see what chance does") for control in outline.controls),
    ):
        counts = [
            row.n // row.n_questions for row in rows if row.condition == name and row.n_questions
        ]
        if counts:
            n = median_low(counts)
            often = "once" if n == 1 else f"{n:,} times"
            parts.append(f"{often} {'more' if name in outline.controls else 'each'} {ending}")
    return parts
