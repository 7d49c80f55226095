"""Who asks by subject and category: against closed forms, known sources, and input without an answer."""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import pytest
from scipy.stats import rankdata

from fieldwork.errors import StudyError
from fieldwork.files.subject_categories import read_categories
from fieldwork.metrics.categories import measure_categories, measure_subjects
from fieldwork.records.metrics import CategoryVariance, SubjectVariance
from fieldwork.records.parsing import Answer
from unit.metrics.findings.finding_rows import filled
from unit.metrics.metric_frames import answer_frame, asked, chosen, item_frame, question

CATEGORIES = {"algebra": "STEM", "physics": "STEM", "law": "humanities"}


def subjects(answers: list[Answer], **subject_of: str | None) -> list[SubjectVariance]:
    items = item_frame(*(question(item, subject=s) for item, s in subject_of.items()))
    return measure_subjects(answer_frame(answers), items, CATEGORIES)


def row(subject: str, category: str | None, value: float | None) -> SubjectVariance:
    reason = "no reruns" if value is None else None
    names = {"task": "t", "condition": "c", "subject": subject, "category": category}
    return filled(SubjectVariance, **names, var_who=value, n_items=10, n_puppets=5, reason=reason)


def categories(
    values: Mapping[str, Sequence[float | None]], n: int = 1999
) -> list[CategoryVariance]:
    """Of subjects with these values."""
    rows = [row(f"{c}{i}", c, value) for c, of in values.items() for i, value in enumerate(of)]
    return measure_categories(rows, n_permutations=n, seed=1)


def test_a_subjects_variance_is_that_of_its_own_items() -> None:
    """Two users who each keep to a letter of their own: all variance is who. Two who flip: none."""
    letters = {item: {"p": "AA", "q": "BB"} for item in "axz"} | {"b": {"p": "AB", "q": "AB"}}
    answers = [a for item, given in letters.items() for a in asked(given, item_id=item)]
    found = {r.subject: r for r in subjects(answers, a="algebra", b="law", x=None, z="astrology")}
    assert {name: r.category for name, r in found.items()} == {
        "algebra": "STEM", "law": "humanities", "astrology": None,
    }  # fmt: skip
    assert (found["algebra"].var_who, found["algebra"].share_who) == (1.0, 1.0)
    # a rerun differs always, another user's answer half the time
    assert found["law"].var_who == pytest.approx(-0.5)
    assert (found["algebra"].n_items, found["algebra"].n_puppets) == (1, 2)
    # without a category it enters no test
    assert measure_categories([found["astrology"]], n_permutations=9, seed=1) == []


@pytest.mark.parametrize(
    ("letters", "reason"),
    [
        ({"p": "AB"}, "1 puppets with an answer"),
        ({"p": "A", "q": "B"}, "no puppet answers an item twice"),
    ],
)
def test_no_variance_is_null_with_a_reason(letters: dict[str, str], reason: str) -> None:
    (found,) = subjects(asked(letters, item_id="a"), a="algebra")
    assert (found.var_who, found.share_who) == (None, None)
    assert reason in (found.reason or "")
    assert subjects(chosen("AB", item_id="a"), a="algebra") == []


def test_the_test_counts_out_all_ways_to_deal_categories() -> None:
    values = {"STEM": [0.5, 0.4, 0.45], "other": [0.1, 0.0, 0.05, 0.41]}
    ranks = rankdata(values["STEM"] + values["other"])

    def spread(chosen_ones: tuple[int, ...]) -> float:
        inside = sum(ranks[list(chosen_ones)])
        return float(inside**2 / 3 + (ranks.sum() - inside) ** 2 / 4)

    deals = [spread(deal) for deal in combinations(range(7), 3)]
    expected = sum(one >= spread((0, 1, 2)) - 1e-9 for one in deals) / len(deals)
    assert [r.p_value for r in categories(values)] == pytest.approx([expected] * 2)
    # alone at either end of the ranks is as far from the others
    one = categories({"STEM": [0.1, 0.11, 0.12], "other": [0.9]})
    assert [r.p_value for r in one] == [0.5, 0.5]


def test_many_deals_are_drawn() -> None:
    rows = categories({"STEM": [20.0 + k for k in range(9)], "other": [*range(9)]}, n=99)
    assert {r.p_value for r in rows} == {0.01}


def test_a_categorys_interval_is_students_over_its_subjects() -> None:
    (found,) = categories({"STEM": [0.1, 0.2, 0.3]})
    # t(0.975, 2) = 4.3027
    reach = 4.302653 * 0.1 / math.sqrt(3)
    assert (found.var_who, found.ci_high) == pytest.approx((0.2, 0.2 + reach))
    assert found.p_value is None
    assert "two categories are needed" in (found.reason or "")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([None, None], "no reruns"),
        ([0.2, 0.3], "2 subjects, 3 that differ are needed"),
        ([0.2, 0.2, 0.2], "3 subjects, 3 that differ are needed"),
    ],
)
def test_what_cannot_be_estimated_is_null_with_a_reason(
    values: list[float | None], reason: str
) -> None:
    (found,) = categories({"STEM": values})
    assert (found.ci_low, found.ci_high, found.p_value) == (None, None, None)
    assert reason in (found.reason or "")


@pytest.mark.parametrize(("gap", "least", "most"), [(0.0, 0, 5), (0.3, 17, 20)])
def test_it_finds_a_difference_and_no_other(gap: float, least: int, most: int) -> None:
    """Twenty small studies: 12 subjects in two categories, six users asked twice."""
    found = 0
    for seed in range(20):
        draw = random.Random(seed)
        values = {
            c: [draw.gauss(0.1 + d, 0.1) for _ in range(6)] for c, d in (("a", gap), ("b", 0))
        }
        found += (categories(values, n=99)[0].p_value or 1) <= 0.05
    assert least <= found <= most


def test_categories_are_read_by_subject(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("category,subject\nSTEM,anatomy\nlaw,jurisprudence\n", encoding="utf-8")
    assert read_categories(str(path)) == {"anatomy": "STEM", "jurisprudence": "law"}
    path.write_text("subject,kind\nanatomy,STEM\n", encoding="utf-8")
    with pytest.raises(StudyError, match="category"):
        read_categories(str(path))
