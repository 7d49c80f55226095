"""The questions one by one: what was answered without a user, asked again, and with each kind of user."""

from collections.abc import Iterator, Sequence

from fieldwork.addresses import PAGE, address
from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.layout import table_lines
from fieldwork.metrics.findings.links import answers_link
from fieldwork.metrics.findings.outline import StudyOutline, groups
from fieldwork.metrics.findings.question_answers import (
    CANNOT_TELL,
    ConditionAnswers,
    QuestionAnswers,
)
from fieldwork.metrics.findings.wording import count_phrase, number_text, percent
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import VALUE_KINDS
from fieldwork.statistics.families import LEVEL

MOST_QUESTIONS, FEWEST_QUESTIONS = 12, 3
"""Questions that are shown one by one: those that differ with a user, or else the first few."""


SMALL_SHARE = 0.1
"""Shares below it have a digit more."""

_ROUNDING = 0.005


def question_lines(questions: Sequence[QuestionAnswers], outline: StudyOutline) -> list[str]:
    """Lines of Markdown: a heading and a table for each question, those that differ first."""
    if not questions:
        return []
    by_item = groups(questions, lambda question: (question.task, question.item_id))
    lines = [
        "## Question by question",
        "",
        _intro(questions, outline),
        "",
    ]
    n_differ = sum(_differs(members, outline) for members in by_item)
    n_shown = min(max(n_differ, FEWEST_QUESTIONS), MOST_QUESTIONS)
    for members in by_item[:n_shown]:
        first = members[0]
        lines += [f"### {outline.question_text(first.task, first.item_id)}", ""]
        for question in members:
            lines += [*_question_table(question, outline), ""]
    n_more = len(by_item) - n_shown
    if n_more > 0:
        n_left = max(0, n_differ - n_shown)
        rest = f"of which {n_left:,} differ" if n_left else "on which no difference is detected"
        every = f"[all questions]({PAGE}{address('question', {})})"
        lines += [f"{count_phrase(n_more, 'more question')}, {rest}: {every}.", ""]
    return lines


def _intro(questions: Sequence[QuestionAnswers], outline: StudyOutline) -> str:
    """How to read the tables of these questions."""
    sentences = [
        "Answers are compared with those without a user; a difference is one with p < "
        f"{LEVEL:g}, corrected over all questions."
    ]
    if outline.controls:
        sentences.append("*Repeated without a user* shows what chance alone does.")
    texts = {row.verdict.text for question in questions for row in question.rows}
    if CANNOT_TELL in texts:
        sentences.append(f"*{CANNOT_TELL.capitalize()}* means too few answers, or always the same.")
    if any(question.options for question in questions):
        sentences.append("Shares are of answers, one for each user or repeat.")
    if any(question.is_stated for question in questions):
        sentences.append(
            "Of a choice they are means of the probabilities that the model itself states."
        )
    if any(question.kind == "list" for question in questions):
        sentences.append("A list names several options; of these the telling ones are shown.")
    return " ".join(sentences)


def _differs(members: Sequence[QuestionAnswers], outline: StudyOutline) -> bool:
    return any(question.furthest(outline.users) for question in members)


def _question_table(question: QuestionAnswers, outline: StudyOutline) -> Iterator[str]:
    model = f"{outline.models[question.model]}: " if len(outline.models) > 1 else ""
    rest_columns = ["other answers"] if _has_other_answers(question) else []
    columns = (
        f"{model}Asked",
        "Differs?",
        *_column_names(question, outline),
        *rest_columns,
        "Answers",
    )
    rows = [_row(question, row, outline) for row in question.rows]
    yield from table_lines([columns, *rows])


def _has_other_answers(question: QuestionAnswers) -> bool:
    """Whether a question with one option an answer has answers beside the options that are shown."""
    return (
        bool(question.options)
        and question.kind != "list"
        and any(_other_share(row) > _ROUNDING for row in question.rows)
    )


def _other_share(row: ConditionAnswers) -> float:
    return max(0.0, 1 - sum(value or 0.0 for value in row.values)) if row.n else 0.0


def _column_names(question: QuestionAnswers, outline: StudyOutline) -> list[str]:
    if question.kind not in VALUE_KINDS:
        texts = [
            outline.marked_option(question.task, question.item_id, option)
            for option in question.options
        ]
        # two long options may begin alike
        return [
            text if texts.count(text) == 1 else f"{literal(option)}: {text}"
            for option, text in zip(question.options, texts, strict=True)
        ]
    item = outline.questions.get(ItemKey(question.task, question.item_id))
    if question.kind == "number":
        return [f"Median, {literal(item.unit)}" if item and item.unit else "Median"]
    if item and item.points:
        ends = [
            f"{number_text(point, 0)} {outline.option_text(question.task, question.item_id, letter)}"
            for point, letter in _ends(item.points)
        ]
        return [f"Mean ({' to '.join(ends)})"]
    return ["Mean"]


def _ends(points: Sequence[float]) -> list[tuple[float, str]]:
    """The lowest and the highest point of a scale, each with its letter."""
    letters = [(point, chr(ord("A") + place)) for place, point in enumerate(points)]
    return [min(letters), max(letters)]


def _row(
    question: QuestionAnswers, row: ConditionAnswers, outline: StudyOutline
) -> tuple[str, ...]:
    is_baseline = row.condition == outline.baseline
    n = answers_of(f"{row.n:,}", question, row) if row.n else "0"
    verdict = row.verdict.text
    return (
        outline.phrase(row.condition),
        "" if is_baseline else f"**{verdict}**" if row.verdict.is_shown else verdict,
        *(value_text(question, value) for value in row.values),
        *([value_text(question, _other_share(row))] if _has_other_answers(question) else []),
        f"{n} + {row.n_missing:,} without" if row.n_missing else n,
    )


def answers_of(
    text: str, question: QuestionAnswers, row: ConditionAnswers, option: str | None = None
) -> str:
    """A text as a link to the answers to a question under one condition."""
    return answers_link(
        text,
        model=question.model,
        task=question.task,
        item=question.item_id,
        condition=row.condition,
        option=option,
        base="values" if question.kind in VALUE_KINDS else "first",
    )


def value_text(question: QuestionAnswers, value: float | None) -> str:
    """A share, a mean or a median as printed."""
    if value is None:
        return "–"
    if question.kind == "scale":
        return number_text(value, 2)
    if question.kind == "number":
        return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    return percent(value, digits=int(0 < value < SMALL_SHARE))
