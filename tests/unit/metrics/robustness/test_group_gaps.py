"""Groups of people beside one another: against counts by hand, all deals, and known sources."""

import itertools
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
import pytest

from fieldwork.errors import StudyError
from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.robustness.groups import measure_group_gaps
from fieldwork.records.parsing import Answer
from fieldwork.records.robustness import GroupGap
from fieldwork.statistics.fisher import Margins, fisher_p
from unit.metrics.metric_frames import answer_frame
from unit.metrics.robustness.wordings import SETTINGS, letters, lists, questions

ITEMS = [f"i{k}" for k in range(8)]
TWO = {"f": "women", "m": "men"}
Key = tuple[str, str | None, str | None, str | None]


def measured(
    answers: Iterable[Answer],
    groups: Mapping[str, str] = TWO,
    *,
    items: pd.DataFrame | None = None,
    settings: ChanceSettings = SETTINGS,
) -> dict[Key, GroupGap]:
    """Rows by metric, item, option and group; of gaps the group is in the row alone."""
    frame = questions(["o", *groups], ITEMS) if items is None else items
    rows = measure_group_gaps(
        answer_frame(answers),
        frame,
        variants=dict.fromkeys(groups, "o"),
        groups=groups,
        settings=settings,
    )
    assert len({(r.metric, r.item_id, r.option, r.group) for r in rows}) == len(rows)
    return {
        (r.metric, r.item_id, r.option, None if r.metric.endswith(("gap", "ratio")) else r.group): r
        for r in rows
    }


def right(task: str, n_right: int, n_reruns: int = 1) -> list[Answer]:
    """The first items right, the others wrong."""
    texts = ["A" * n_reruns] * n_right + ["B" * n_reruns] * (len(ITEMS) - n_right)
    return letters(task, dict(zip(ITEMS, texts, strict=True)))


def test_the_gap_and_the_ratio_of_accuracies() -> None:
    rows = measured(right("f", 2) + right("m", 8))
    gap, ratio = rows["accuracy_gap", None, None, None], rows["accuracy_ratio", None, None, None]
    assert (gap.estimate, gap.group, gap.other_group) == (pytest.approx(0.75), "men", "women")
    assert ratio.estimate == pytest.approx(0.25)
    assert rows["accuracy", None, None, "women"].estimate == pytest.approx(0.25)
    assert (gap.n_items, gap.n_answers, gap.n_groups) == (8, 16, 2)
    assert ratio.p_value is None


def test_the_gap_is_tested_by_dealing_groups_anew_within_items() -> None:
    """Of six items that differ, all to the same side: 2 of 64 deals are as far apart."""
    gap = measured(right("f", 2) + right("m", 8), settings=ChanceSettings(20_000, 1))[
        "accuracy_gap", None, None, None
    ]
    assert gap.p_value == pytest.approx(2 / 64, abs=0.004)
    sums = [abs(sum(signs)) / 8 for signs in itertools.product((-1, 1), repeat=6)]
    assert gap.expected_same == pytest.approx(np.mean(sums), abs=0.01)


def test_items_that_could_not_be_put_for_all_are_left_out() -> None:
    items = questions(["o", *TWO], ITEMS, left_out={"f": ["i7"]})
    row = measured(right("f", 8) + right("m", 7), items=items)["accuracy_gap", None, None, None]
    assert (row.estimate, row.n_items, row.n_left_out) == (0.0, 7, 1)


def test_all_wrong_has_no_ratio() -> None:
    row = measured(right("f", 0) + right("m", 0))["accuracy_ratio", None, None, None]
    assert (row.estimate, row.reason) == (None, "no answer of any group is right")


def test_a_group_without_answers_has_rows_with_the_reason() -> None:
    rows = measured(right("f", 8))
    for metric in ("accuracy_gap", "accuracy_ratio", "flips", "excess_flips"):
        row = rows[metric, None, None, None]
        assert (row.estimate, row.reason) == (None, "no item is answered for all groups")


def test_flips_between_groups_beside_reruns_of_one() -> None:
    """Item i0 differs by group and never by rerun, i1 by rerun only."""
    answers = letters("f", {"i0": "AA", "i1": "AB"}) + letters("m", {"i0": "BB", "i1": "AB"})
    rows = measured(answers)
    # i0: all pairs differ; i1: the two pairs of different reruns differ
    assert rows["flips", None, None, None].estimate == pytest.approx(1.0)
    assert rows["flips_rerun", None, None, None].estimate == pytest.approx(0.5)
    assert rows["excess_flips", None, None, None].estimate == pytest.approx(0.5)


def test_lists_have_options_in_common() -> None:
    answers = lists("f", {"i0": [["a", "b"], ["a", "b"]]}) + lists("m", {"i0": [["a", "c"]] * 2})
    rows = measured(answers, items=questions(["o", *TWO], ITEMS, gold=None))
    assert rows["overlap", None, None, None].estimate == pytest.approx(1 / 3)
    assert rows["overlap_rerun", None, None, None].estimate == 1.0
    assert rows["excess_overlap", None, None, None].estimate == pytest.approx(-2 / 3)
    assert ("accuracy_gap", None, None, None) not in rows


def test_which_options_are_given_to_whom() -> None:
    answers = lists("f", {"i0": [["nurse"]] * 9 + [["judge"]]})
    answers += lists("m", {"i0": [["judge"]] * 8 + [["nurse"]] * 2})
    rows = measured(answers, items=questions(["o", *TWO], ITEMS, gold=None))
    assert rows["option_share", "i0", "nurse", "women"].estimate == pytest.approx(0.9)
    gap = rows["option_gap", "i0", "nurse", None]
    assert (gap.estimate, gap.group, gap.other_group) == (pytest.approx(0.7), "women", "men")
    p_value = fisher_p(9, Margins(11, 10, 10))
    assert gap.p_value == pytest.approx(p_value)


def test_one_group_is_not_compared_and_nothing_gives_nothing() -> None:
    assert measured(right("f", 3) + right("m", 3), {"f": "women"}) == {}
    assert measured([]) == {}
    with pytest.raises(StudyError, match=r"metrics\.permutations is 0"):
        measured([], settings=ChanceSettings(0, 1))


def test_a_user_is_dealt_within_herself() -> None:
    """Users differ, groups do not: every user has one letter, so that no deal changes anything."""
    answers = [
        answer
        for user, letter in enumerate("AABB")
        for task in TWO
        for answer in letters(task, dict.fromkeys(ITEMS, letter * 2), puppet=f"p{user}")
    ]
    rows = measured(answers)
    assert rows["accuracy_gap", None, None, None].p_value == 1.0
    assert rows["excess_flips", None, None, None].estimate == 0.0


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
            p_value = rows[metric, None, None, None].p_value
            counts[metric] += p_value is not None and p_value <= 0.05
    if is_different:
        assert min(counts.values()) > 6
    else:
        # 60 tests at 5 %: 7 is the 99 % point
        assert max(counts.values()) <= 7
