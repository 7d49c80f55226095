"""Units that files describe, with nobody named: whoever judges what is said of them is user and rater.

Promises that a person has one pseudonym, as the rater and in ids of units, users and authors.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import replace

from fieldwork.privacy import is_personal_id, pseudonym
from fieldwork.records.judging import JudgedUnit

_SEPARATOR = "/"


class UnitNames:
    """What units are called once people's ids are keyed hashes.

    Args:
        people: what the files call the people who judge.
        key: of the pseudonyms.
    """

    def __init__(self, people: Iterable[str], key: bytes) -> None:
        self._key = key
        self._pseudonyms = {_spelling(person): pseudonym(person, key) for person in people}

    def unit(self, unit: JudgedUnit) -> JudgedUnit:
        """The unit without an id of a person."""
        return replace(
            unit,
            unit_id=self.name(unit.unit_id),
            user_id=self._optional(unit.user_id),
            item_id=self._optional(unit.item_id),
            unit_group=self._optional(unit.unit_group),
            author_a=self._optional(unit.author_a),
            author_b=self._optional(unit.author_b),
        )

    def name(self, text: str) -> str:
        """An id, with a pseudonym for each part between slashes that is a person's id."""
        if (whole := self._pseudonyms.get(_spelling(text))) is not None:
            return whole
        return _SEPARATOR.join(map(self._part, text.split(_SEPARATOR)))

    def _optional(self, text: str | None) -> str | None:
        return None if text is None else self.name(text)

    def _part(self, part: str) -> str:
        of_rater = self._pseudonyms.get(_spelling(part))
        if of_rater is None and is_personal_id(part):
            return pseudonym(part, self._key)
        return of_rater or part


def _spelling(text: str) -> str:
    """An id without what people vary: capitals, blanks around it, its Unicode form."""
    return unicodedata.normalize("NFC", text).strip().casefold()
