"""Who judges what: equal loads, the overlap, repeats far apart, and the same kit for the same seed."""

from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldwork.errors import StudyError
from fieldwork.judging.kit.allocation import allot_units, rater_codes
from fieldwork.sections.judging import UnitSharing
from unit.judging.unit_texts import pair, unit_text

KIT = UnitSharing()


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 80),
    raters=st.integers(2, 12),
    overlap=st.sampled_from([0.1, 0.3, 1.0]),
    shared_by=st.integers(2, 4),
    repeats=st.sampled_from([0.0, 0.05, 0.5]),
)
def test_every_unit_is_judged_and_loads_are_equal(
    n: int, raters: int, overlap: float, shared_by: int, repeats: float
) -> None:
    kit = UnitSharing(
        raters=raters, overlap=overlap, shared_by=min(shared_by, raters), repeated=repeats
    )
    allotments = allot_units([unit_text(str(i)) for i in range(n)], kit, "mine", seed=1)
    firsts = [a for a in allotments if not a.is_repeat]
    by_unit = defaultdict(set)
    for a in firsts:
        by_unit[a.code].add(a.rater)
    assert len(by_unit) == n
    assert len(firsts) == sum(map(len, by_unit.values())), "nobody judges a unit twice unannounced"
    counts = Counter(len(who) for who in by_unit.values())
    assert counts[kit.shared_by] == -(-n * overlap // 1) or kit.shared_by == 1
    loads = Counter(a.rater for a in firsts)
    assert max(loads.values()) - min(loads.get(code, 0) for code in rater_codes(raters)) <= 1
    for rater in rater_codes(raters):
        own = sorted((a for a in allotments if a.rater == rater), key=lambda a: a.place)
        assert [a.place for a in own] == list(range(len(own)))
        first_places = {a.code: a.place for a in own if not a.is_repeat}
        for a in own:
            if a.is_repeat:
                assert a.place - first_places[a.code] > loads[rater] // 2


def test_sides_are_drawn_for_pairs_alone_and_seeds_make_the_kit() -> None:
    units = [*(pair(str(n)) for n in range(100)), unit_text("one")]
    allotments = allot_units(units, KIT, "mine", seed=3)
    sides = Counter(a.first_side for a in allotments)
    assert sides[None] in (1, 2, 3)
    assert 30 < sides["a"] < 90
    assert 30 < sides["b"] < 90
    assert allot_units(units[::-1], KIT, "mine", seed=3) == allotments
    assert allot_units(units, KIT, "mine", seed=4) != allotments


def test_more_raters_of_a_unit_than_there_are_is_one_sentence() -> None:
    with pytest.raises(StudyError, match=r"judging\.kit\.shared_by: 7 raters .* there are 6"):
        allot_units([unit_text()], UnitSharing(shared_by=7), "mine", seed=3)
