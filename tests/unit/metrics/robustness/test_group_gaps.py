"""Groups of people beside one another: against counts by hand, all deals, and known sources."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pytest

from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.robustness.groups import measure_group_gaps
from fieldwork.records.parsing import Answer
from fieldwork.records.robustness import GroupGap
from fieldwork.statistics.fisher import Margins, fisher_p
from unit.metrics.metric_frames import answer_frame
from unit.metrics.robustness.wordings import SETTINGS, letters, lists, questions

ITEMS = [f"i{k}" for k in range(8)]
TWO = {"f": "women", "m": "men"}


def measured(
    answers: Iterable[Answer],
    groups: Mapping[str, str] = TWO,
    *,
    gold: str | None = "A",
    **more: Any,
) -> dict[str, GroupGap]:
    """Rows by metric, item, option and group; of gaps the group is in the row alone."""
    items = questions(["o", *groups], ITEMS, gold=gold)
    settings = {"items": items, "settings": SETTINGS, **more}
    names = {"variants": dict.fromkeys(groups, "o"), "groups": groups}
    rows = measure_group_gaps(answer_frame(answers), **names, **settings)
    assert len({(r.metric, r.item_id, r.option, r.group) for r in rows}) == len(rows)
    shares = ("accuracy", "option_share")
    return {
        " ".join(
            filter(None, (r.metric, r.item_id, r.option, (r.group or "") * (r.metric in shares)))
        ): r
        for r in rows
    }


def right(task: str, n_right: int, n_reruns: int = 1) -> list[Answer]:
    """The first items right, the others wrong."""
    texts = ["A" * n_reruns] * n_right + ["B" * n_reruns] * (len(ITEMS) - n_right)
    return letters(task, dict(zip(ITEMS, texts, strict=True)))


def test_the_gap_and_the_ratio_of_accuracies() -> None:
    rows = measured(right("f", 2) + right("m", 8), settings=ChanceSettings(20_000, 1))
    gap, ratio = rows["accuracy_gap"], rows["accuracy_ratio"]
    assert (gap.estimate, gap.group, gap.other_group) == (pytest.approx(0.75), "men", "women")
    assert ratio.estimate == pytest.approx(0.25)
    assert rows["accuracy women"].estimate == pytest.approx(0.25)
    assert (gap.n_items, gap.n_answers, gap.n_groups) == (8, 16, 2)
    assert ratio.p_value is None
    # of six items that differ, all to the same side, 2 of 64 deals are as far apart
    assert gap.p_value == pytest.approx(2 / 64, abs=0.004)
    sums = [abs(sum(signs)) / 8 for signs in itertools.product((-1, 1), repeat=6)]
    assert gap.expected_same == pytest.approx(np.mean(sums), abs=0.01)


def test_items_that_could_not_be_put_for_all_are_left_out() -> None:
    items = questions(["o", *TWO], ITEMS, left_out={"f": ["i7"]})
    row = measured(right("f", 8) + right("m", 7), items=items)["accuracy_gap"]
    assert (row.estimate, row.n_items, row.n_left_out) == (0.0, 7, 1)


def test_what_has_no_value_says_why() -> None:
    row = measured(right("f", 0) + right("m", 0))["accuracy_ratio"]
    assert (row.estimate, row.reason) == (None, "no answer of any group is right")
    rows = measured(right("f", 8))
    for metric in ("accuracy_gap", "accuracy_ratio", "flips", "excess_flips"):
        row = rows[metric]
        assert (row.estimate, row.reason) == (None, "no item is answered for all groups")
    assert measured(right("f", 3) + right("m", 3), {"f": "women"}) == measured([]) == {}


def test_flips_between_groups_beside_reruns_of_one() -> None:
    """Item i0 differs by group and never by rerun, i1 by rerun only."""
    answers = letters("f", {"i0": "AA", "i1": "AB"}) + letters("m", {"i0": "BB", "i1": "AB"})
    rows = measured(answers)
    # i0: all pairs differ; i1: the two pairs of different reruns differ
    assert rows["flips"].estimate == pytest.approx(1.0)
    assert rows["flips_rerun"].estimate == pytest.approx(0.5)
    assert rows["excess_flips"].estimate == pytest.approx(0.5)


def test_lists_have_options_in_common() -> None:
    answers = lists("f", {"i0": [["a", "b"], ["a", "b"]]}) + lists("m", {"i0": [["a", "c"]] * 2})
    rows = measured(answers, gold=None)
    assert rows["overlap"].estimate == pytest.approx(1 / 3)
    assert rows["overlap_rerun"].estimate == 1.0
    assert rows["excess_overlap"].estimate == pytest.approx(-2 / 3)
    assert "accuracy_gap" not in rows


def test_which_options_are_given_to_whom() -> None:
    answers = lists("f", {"i0": [["nurse"]] * 9 + [["judge"]]})
    answers += lists("m", {"i0": [["judge"]] * 8 + [["nurse"]] * 2})
    rows = measured(answers, gold=None)
    assert rows["option_share i0 nurse women"].estimate == pytest.approx(0.9)
    gap = rows["option_gap i0 nurse"]
    assert (gap.estimate, gap.group, gap.other_group) == (pytest.approx(0.7), "women", "men")
    assert gap.p_value == pytest.approx(fisher_p(9, Margins(11, 10, 10)))


def test_a_user_is_dealt_within_herself() -> None:
    """Users differ, groups do not: every user has one letter, so that no deal changes anything."""
    answers = [
        answer
        for user, letter in enumerate("AABB")
        for task in TWO
        for answer in letters(task, dict.fromkeys(ITEMS, letter * 2), puppet=f"p{user}")
    ]
    rows = measured(answers)
    assert rows["accuracy_gap"].p_value == 1.0
    assert rows["excess_flips"].estimate == 0.0


@pytest.mark.parametrize("is_different", [False, True])
def test_groups_that_are_answered_alike_are_rarely_told_apart(is_different: bool) -> None:
    draw, n_sets = np.random.default_rng(2), 12 if is_different else 60
    counts = {"accuracy_gap": 0, "excess_flips": 0}
    for _ in range(n_sets):
        answers = []
        for task in "abc":
            options = "BBC" if is_different and task == "c" else "AAB"
            texts = {i: "".join(draw.choice([*options], size=3)) for i in ITEMS}
            answers += letters(task, texts)
        groups = {"a": "a", "b": "b", "c": "c"}
        rows = measured(answers, groups, settings=ChanceSettings(99, 1))
        for metric in counts:
            p_value = rows[metric].p_value
            counts[metric] += p_value is not None and p_value <= 0.05
    if is_different:
        assert min(counts.values()) > 6
    else:
        # 60 tests at 5 %: 7 is the 99 % point
        assert max(counts.values()) <= 7
