"""Who judges: every rater is a person or a model, in all files alike."""

from fieldwork.errors import StudyError
from fieldwork.records.judging import RaterKind


class RaterKinds:
    """The kinds of the raters so far, by what the files call them."""

    def __init__(self) -> None:
        self._kinds: dict[str, tuple[RaterKind, str]] = {}

    @property
    def people(self) -> list[str]:
        """The people among them; never to be stored."""
        return [rater for rater, (kind, _) in self._kinds.items() if kind == "person"]

    def add(self, rater: str, kind: RaterKind, place: str) -> None:
        """Take note of a rater.

        Raises:
            StudyError: it was of the other kind in another row.
        """
        known_kind, known_place = self._kinds.setdefault(rater, (kind, place))
        if known_kind != kind:
            raise StudyError(
                f"{place}: its rater is a {kind}, and a {known_kind} in {known_place}; correct the kind "
                f"of one of them, or give the two raters different names"
            )
