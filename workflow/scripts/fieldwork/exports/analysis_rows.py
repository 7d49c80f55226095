"""Rows of files for statistics programs that are no tables of the study itself."""

from fieldwork.records.columns import column, row
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item


@row
class AnswerForAnalysis(Answer):
    """An answer, with its text and whether it counts."""

    text: str | None = column(
        "the reply, NULL where none arrived; those of real users are left out", default=None
    )
    gold: str | None = column(
        "letter of the correct choice, NULL where there is none", default=None
    )
    is_correct: bool | None = column(
        "the flexible letter is the correct one; no letter is no; NULL without a correct one or without "
        "an answer",
        default=None,
    )
    counts: bool | None = column(
        "whether figures and estimates of users count it: of one user's answers to a question the first, "
        "of lists the first that can be read; means of `value` take the first that has one",
        default=None,
    )
    left_out: str | None = column("why it does not count, NULL where it does", default=None)


@row
class ItemForAnalysis(Item):
    """A question, with its task."""

    task: str = column("task", default="")
