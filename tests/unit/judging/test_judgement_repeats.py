"""The first judgement with a value counts, whoever reads the table."""

from fieldwork.judging.learning import labels_of
from fieldwork.judging.repeats import number_repeats
from fieldwork.memory.selection import people_shares
from fieldwork.records.judging import Judgement
from unit.judging.unit_texts import RIGHT


def judgement(value: str | None, unit: str = "a1/task/q", rater: str = "ann") -> Judgement:
    return Judgement("right", unit, rater, "person", 0, value, None, None, None, None, "kit", None)


def test_judgements_of_a_rater_unit_and_scale_are_numbered() -> None:
    rows = [judgement("accept"), judgement("reject"), judgement("accept", rater="bob")]
    rows += [judgement("accept", "a2/task/q"), judgement("reject")]
    assert [row.repeat for row in number_repeats(rows)] == [0, 1, 0, 0, 2]
    assert [row.value for row in number_repeats(rows)] == [row.value for row in rows]


def test_a_unit_that_was_skipped_at_first_is_no_repeat_later() -> None:
    rows = number_repeats([judgement(None), judgement("accept"), judgement(None)])
    assert [(row.value, row.repeat) for row in rows] == [(None, 1), ("accept", 0), (None, 2)]
    assert labels_of(rows, RIGHT).values == {"a1/task/q": 1.0}
    assert people_shares(rows, "task", RIGHT) == {("a1", "q"): 1.0}
