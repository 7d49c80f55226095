"""What the findings claim of real users: nothing without its test, and with every number it has."""

from typing import Any

import pytest

from fieldwork.metrics.findings.field import sections
from fieldwork.metrics.findings.page import Study
from fieldwork.records.field import GroupDifference, ItemAgreement, RankAgreement

STUDY = Study(
    name="s",
    models={"m": "Model"},
    tasks=["t"],
    conditions={"offline": "Offline", "rag": "RAG", "field": "Field"},
    baseline="offline",
    users=["rag", "field"],
    controls=[],
    notes=[],
)


def difference(**values: Any) -> GroupDifference:
    told: dict[str, Any] = {
        "model": "m", "task": "t", "item_id": None, "kind": "list", "variable": "gender",
        "group": "man", "versus": "woman", "metric": "entropy_bits", "value": 3.5,
        "value_versus": 3.0, "difference": 0.5, "ci_low": 0.2, "ci_high": 0.8, "p_value": 0.01,
        "p_holm": 0.02, "n_family": 1, "n_permutations": 1999, "n_items": 9, "n_group": 20,
        "n_versus": 21, "reason": None,
    }  # fmt: skip
    return GroupDifference(**(told | values))


def order(**values: Any) -> RankAgreement:
    told: dict[str, Any] = {
        "model": "m", "task": "t", "kind": "list", "over": "items", "predictor": "rag",
        "measure": "entropy_bits", "rho": 0.9, "rho_low": 0.5, "rho_high": 1.0, "tau_b": 0.8,
        "tau_low": 0.4, "tau_high": 1.0, "p_value": 0.001, "p_holm": 0.002, "p_least": 0.00001,
        "n_permutations": 0, "n_discordant": 3, "n_tied": 0, "n_pairs": 36, "n_ranked": 9,
        "n_left_out": 0, "n_equal": 20, "reliability_field": 0.9, "reliability_predictor": 0.9,
        "ceiling": 0.9, "reason": None,
    }  # fmt: skip
    return RankAgreement(**(told | values))


def near(**values: Any) -> ItemAgreement:
    told: dict[str, Any] = dict.fromkeys(ItemAgreement.__dataclass_fields__)
    told |= {
        "model": "m", "task": "t", "item_id": "books", "kind": "list", "predictor": "rag",
        "js_distance": 0.4, "js_expected_same": 0.1, "p_value": 0.01, "p_holm": 0.01,
        "n_equal_js": 20, "is_same_top": True, "ranked_by": "entropy_bits", "rank_change": 2.0,
        "p_rank_holm": 0.01, "n_ranked": 9, "n_field": 20, "n_predictor": 40,
    }  # fmt: skip
    return ItemAgreement(**(told | values))


def test_no_field_no_section() -> None:
    assert sections([], [], [], STUDY) == []


@pytest.mark.parametrize(
    ("rows", "head", "line"),
    [
        (
            [difference()],
            "Groups of participants are shown to differ in 1 of 1 test, corrected within a variable "
            "and metric: of 1 such families, chance alone makes up to 0.05 tell a difference "
            "[group_differences].",
            "t, gender: man and woman differ in the entropy of their answers: +0.50 bits, 95 % "
            "interval 0.20 to 0.80, p = 0.020 among 1 test; 20 and 21 participants, 9 prompts "
            "[group_differences]",
        ),
        (
            [difference(p_holm=0.5)],
            "No difference between groups of participants is shown in any of 1 test "
            "[group_differences].",
            "t, gender: no difference of man and woman in the entropy of their answers shown: +0.50 "
            "bits, 95 % interval 0.20 to 0.80, p = 0.50 among 1 test; 20 and 21 participants, "
            "9 prompts [group_differences]",
        ),
        (
            [difference(difference=None, p_value=None, p_holm=None, reason="nobody answers")],
            "No differences between groups of participants can be tested [group_differences].",
            "t, gender: no test of the entropy of their answers, because nobody answers "
            "[group_differences]",
        ),
        (
            [difference(group=None, versus=None, metric="js_bits", value=0.2, value_versus=0.1,
                        n_group=41, n_versus=0)],
            "Groups of participants are shown to differ in 1 of 1 test, corrected within a variable "
            "and metric: of 1 such families, chance alone makes up to 0.05 tell a difference "
            "[group_differences].",
            "t, gender: groups differ in the distribution of their answers, 0.200 bits apart where "
            "chance gives 0.100 (p = 0.020 among 1 test; 41 participants, 9 prompts) "
            "[group_differences]",
        ),
    ],
)  # fmt: skip
def test_groups(rows: list[GroupDifference], head: str, line: str) -> None:
    section = sections(rows, [], [], STUDY)[0]
    assert (section.title, section.head, section.lines) == (
        "Groups of real users: gender", head, [line],
    )  # fmt: skip


def test_of_many_groups_without_a_difference_the_nearest_is_told() -> None:
    rows = [
        difference(group=g, versus=None, p_value=p, p_holm=1.0, n_family=3)
        for g, p in (("a", 0.6), ("b", 0.3), ("c", 0.9))
    ]
    (line,) = sections(rows, [], [], STUDY)[0].lines
    assert (
        "no difference in the entropy of their answers shown, nearest to one b and the mean of "
        "the other groups" in line
    )
    assert "p = 1.00 among 3 tests" in line


def test_prompts_that_differ_are_counted() -> None:
    rows = [difference(item_id=i, p_holm=p, n_family=2) for i, p in (("a", 0.01), ("b", 0.4))]
    (line,) = sections(rows, [], [], STUDY)[0].lines
    assert line == (
        "t, gender: prompt by prompt, the entropy of their answers differs in 1 of 2 tests (a, man) "
        "[group_differences]"
    )


@pytest.mark.parametrize(
    ("row", "head", "line"),
    [
        (
            order(),
            "is shown to rank prompts as real users do in 1 of 1 test, best RAG, t (tau-b 0.80)",
            "the order of the field for 9 items by entropy: tau-b +0.80 (95 % interval 0.40 to 1.00), "
            "p = 0.002, 3 of 36 pairs turned; rho +0.90 where 0.90 is to be expected of one true order",
        ),
        (order(p_holm=0.3), "No condition is shown to rank prompts", "no agreement on the order of"),
        (order(tau_b=-0.8, rho=-0.9), "No condition is shown to rank", "the opposite order of the field"),
        (
            order(p_holm=0.08, p_least=0.08),
            "No condition is shown to rank",
            "can be shown, as p cannot be below 0.08",
        ),
        (
            order(tau_b=None, rho=None, p_value=None, p_holm=None, reason="all alike"),
            "cannot be tested",
            "no order of 9 items by entropy, because all alike",
        ),
        (order(ceiling=None), "in 1 of 1 test", "with a ceiling that cannot be told"),
        (order(over="models", model=None), "in 1 of 1 test", "9 models by entropy"),
    ],
)  # fmt: skip
def test_predictors(row: RankAgreement, head: str, line: str) -> None:
    section = sections([], [row], [], STUDY)[0]
    assert head in section.head
    assert line in section.lines[0]
    assert section.lines[0].endswith("[rank_agreement]")


def test_how_near() -> None:
    rows = [
        near(),
        near(item_id="films", js_distance=0.2, p_holm=0.6, p_rank_holm=0.7, is_same_top=False),
    ]
    section = sections([], [], rows, STUDY)[-1]
    assert section.head == (
        "Answers differ from real users' in 1 of 2 pairs of prompt and condition [item_agreement]."
    )
    assert section.lines == [
        "RAG, t: answers to 1 of 2 prompts differ; furthest books, Jensen-Shannon distance 0.40 where "
        "chance gives 0.10; 1 of 2 change place beyond chance (books); the commonest answer is the "
        "same on 1 (50 %) [item_agreement]"
    ]


def test_nothing_near_has_its_reason() -> None:
    row = near(js_distance=None, p_holm=None, reason="no answer can be read")
    section = sections([], [], [row], STUDY)[-1]
    assert section.head == "No answers can be compared with real users' [item_agreement]."
    assert section.lines == ["RAG, t: no distance, because no answer can be read [item_agreement]"]
