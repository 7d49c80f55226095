"""Judgements by the place of the kit at which a rater made them, so that a file saved twice counts once.

A rater who saves their answers again sends them again. Only the place tells that from a unit that the
rater was given twice. Rows without a place are judgements of their own.
"""

from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.records.judging import Judgement


class AnswerPlace(NamedTuple):
    """Where a rater saw a unit.

    Attributes:
        kit: digest of the kit, None where the file does not say it.
        position: the rater's place in it.
    """

    kit: str | None
    position: str


class _EarlierRow(NamedTuple):
    number: int
    place: str


class AnswerPlaces:
    """The judgements so far, in their order."""

    def __init__(self) -> None:
        self.judgements: list[Judgement] = []
        self.n_copies = 0
        self._rows: dict[tuple[AnswerPlace, str, str, str], _EarlierRow] = {}

    def add(self, judgement: Judgement, answer_place: AnswerPlace | None, place: str) -> None:
        """Add a judgement, or pass it over where it is a copy of an earlier one.

        Args:
            answer_place: None where the file does not say it.
            place: file and row, for messages.

        Raises:
            StudyError: the rater said something else at this place in an earlier row.
        """
        if answer_place is None:
            self.judgements.append(judgement)
            return
        name = (answer_place, judgement.scale, judgement.unit_id, judgement.rater)
        earlier_row = self._rows.setdefault(name, _EarlierRow(len(self.judgements), place))
        if earlier_row.number == len(self.judgements):
            self.judgements.append(judgement)
            return
        self.n_copies += 1
        earlier_value = self.judgements[earlier_row.number].value
        if earlier_value is None:
            # the file was saved before the rater came to this unit, and again later
            self.judgements[earlier_row.number] = judgement
        elif judgement.value not in (None, earlier_value):
            raise StudyError(
                f"{place}: its rater gave another answer to the same question of the kit in "
                f"{earlier_row.place}; keep the file that the rater saved last, and delete the other one"
            )
