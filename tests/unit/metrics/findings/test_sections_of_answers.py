"""Sections about answers claim what a test shows and nothing else, with every number of the table."""

from collections.abc import Sequence
from typing import Any

import pytest

from fieldwork.metrics.findings import answers
from fieldwork.metrics.findings.wording import p_cell
from fieldwork.records.metrics import NestedVariance
from unit.metrics.findings.finding_rows import (
    OUTLINE,
    cells,
    claims_of,
    comparison_row,
    entropy_row,
    heterogeneity,
    nested_row,
    shift_row,
    variance_row,
)


@pytest.mark.parametrize(
    ("section", "rows", "row"),
    [
        (
            answers.who_asks,
            [variance_row(0.002)],
            ("16 (−12…20)", "0.002", "40", "9", "1,720", "differs"),
        ),
        (
            answers.distance,
            [
                comparison_row(0.01),
                comparison_row(0.02, "j", excess=0.05),
                comparison_row(0.6, "k"),
                comparison_row(None, "l", reason="no answer can be read"),
            ],
            ("2/3, 1 untested", "j", "+0.050", "0.020", "40, baseline 30", "differs"),
        ),
        (
            answers.options_moved,
            [shift_row(0.012)],
            (
                *("Tesla (cars)", "57.5 (23/40)", "17.5 (7/40)", "−40 (−57…−19)", "0.010"),
                "rarer",
            ),
        ),
        (
            answers.options_moved,
            [shift_row(0.0004, 0.4, kind="choice", answer="unknown")],
            (
                *("no readable letter (cars)", "57.5 (23/40)", "17.5 (7/40)", "+40 (−57…−19)"),
                *("<0.001", "more common"),
            ),
        ),
        (
            heterogeneity,
            [entropy_row(0.0001)],
            (
                *("3.50 (3.40…3.60)", "38", "40", "+0.20 (0.10…0.30)", "−0.02…0.42", "8/9", "<0.001"),
                "more varied",
            ),
        ),
        (
            heterogeneity,
            [entropy_row(0.01, -0.2)],
            (
                *("3.50 (3.40…3.60)", "38", "40", "−0.20 (0.10…0.30)", "−0.02…0.42", "8/9", "0.010"),
                "less varied",
            ),
        ),
        (
            heterogeneity,
            [entropy_row(None, None, condition="offline", n_higher=None,
                         prompts_difference_low=None)],
            ("3.50 (3.40…3.60)", "38", "40", "–", "–", "–/9", "–", "baseline"),
        ),
    ],
)  # fmt: skip
def test_a_claim_has_its_number_interval_n_and_test(section, rows, row: tuple[str, ...]) -> None:
    (found,) = cells(section(rows, claims_of(*rows), OUTLINE))
    assert found[2:] == row
    assert len(found) == len(section(rows, claims_of(*rows), OUTLINE).columns)


@pytest.mark.parametrize(
    ("section", "rows", "verdict"),
    [
        (answers.who_asks, [variance_row(0.05)], "not detected (23.2 % would be)"),
        (answers.distance, [comparison_row(0.05), comparison_row(0.9, "j")], "not detected"),
        (
            answers.distance,
            [comparison_row(None, reason="no answer to i can be read")],
            "no test: no answer to i can be read",
        ),
        (answers.options_moved, [shift_row(0.3)], "not detected (27.2 points would be)"),
        (heterogeneity, [entropy_row(0.05)], "not detected (0.14 bits would be)"),
        (
            heterogeneity,
            [entropy_row(0.3, difference_low=-0.1, difference_high=0.24)],
            "equivalent (±0.25 bits)",
        ),
        (
            heterogeneity,
            [entropy_row(None, reason="no interval and no test: leaving out changes nothing")],
            "no test: leaving out changes nothing",
        ),
        (
            heterogeneity,
            [entropy_row(None, None, value=None, condition="offline", reason="nothing is read")],
            "no test: nothing is read",
        ),
    ],
)
def test_what_no_test_shows_is_a_row_with_its_reason(
    section, rows: Sequence[Any], verdict: str
) -> None:
    (found,) = cells(section(rows, claims_of(*rows), OUTLINE))
    assert found[-1] == verdict


def test_a_share_that_cannot_be_told_has_a_row_only_beside_one_that_can() -> None:
    row = variance_row(0.05)
    unknown = variance_row(
        None, condition="history", share_who=None, reason="no puppet answers twice"
    )
    assert not cells(answers.who_asks([unknown], claims_of(unknown), OUTLINE))
    rows = cells(answers.who_asks([row, unknown], claims_of(row, unknown), OUTLINE))
    assert [cell[-1] for cell in rows].count("no test: no puppet answers twice") == 1
    assert len(rows) == 2


def test_where_no_prompt_differs_the_clearest_is_named() -> None:
    rows = [comparison_row(0.9, "far", excess=0.2), comparison_row(0.3, "near", excess=0.1)]
    ((*_, count, name, bits, p, _, verdict),) = cells(
        answers.distance(rows, claims_of(*rows), OUTLINE)
    )
    assert (count, name, bits, p, verdict) == ("0/2", "near", "+0.100", "0.30", "not detected")


@pytest.mark.parametrize(
    "section", [answers.who_asks, answers.distance, answers.options_moved, heterogeneity]
)
def test_an_empty_table_says_that_there_is_nothing(section) -> None:
    empty = section([], claims_of(), OUTLINE)
    assert list(empty.findings) == []
    assert empty.absence.startswith("No ")


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (nested_row(0.01, 0.02), "users differ, contexts differ"),
        (nested_row(0.4, 0.02), "contexts differ"),
        (
            nested_row(0.02, 0.02, context_low=None, context_high=None),
            "users differ, contexts differ",
        ),
        (nested_row(0.02, 0.4), "users differ"),
        (nested_row(0.4, 0.3), "not detected (10.7 % would be)"),
        (
            nested_row(None, None, reason="each user has one context"),
            "no test: each user has one context",
        ),
    ],
)
def test_users_and_contexts_of_one_user_have_a_verdict_together(
    row: NestedVariance, verdict: str
) -> None:
    (finding,) = cells(answers.users_and_contexts([row], claims_of(row), OUTLINE))
    assert finding[-1] == verdict
    assert finding[-8:-6] == ("12 (5…20)", p_cell(row.p_user))
    assert finding[-4:-1] == ("80", "2", "9")


def test_only_the_furthest_options_are_listed_and_the_others_counted() -> None:
    moved = [shift_row(0.01, k / 100, answer=f"o{k}") for k in range(1, 8)]
    section = answers.options_moved(
        [*moved, shift_row(0.5, 0.9, answer="o9")],
        claims_of(*[*moved, shift_row(0.5, 0.9, answer="o9")]),
        OUTLINE,
    )
    assert [row[2].split()[0] for row in cells(section)] == ["o7", "o6", "o5", "o4", "o3"]
    assert [verdict.text for verdict in section.other_verdicts] == [
        "not detected (27.2 points would be)",
        "more common",
        "more common",
    ]
    assert "expect less when you ask again" in section.question


def test_without_an_option_that_moved_the_furthest_of_each_task_is_listed() -> None:
    rows = [shift_row(0.5, k / 10, answer=f"o{k}", task=t) for k in (1, 2) for t in ("mmlu", "rec")]
    section = answers.options_moved(rows, claims_of(*rows), OUTLINE)
    assert [(row[0], row[2], row[-1]) for row in cells(section)] == [
        ("rec", "o2 (cars)", "not detected (27.2 points would be)"),
        ("mmlu", "o2 (cars)", "not detected (27.2 points would be)"),
    ]
    assert len(section.other_verdicts) == 2


def test_rows_stand_by_task_model_and_condition() -> None:
    outline = OUTLINE._replace(models={"z": "Zed", "m": "Model"})
    rows = [
        variance_row(0.5, condition=condition, task=task, model=model)
        for condition in ("history", "rag", "x")
        for model in ("m", "z", "other")
        for task in ("mmlu", "rec", "x")
    ]
    section = answers.who_asks(rows, claims_of(*rows), outline)
    assert section.columns[:3] == ("Task", "Model", "Condition")
    assert [row[:3] for row in cells(section)] == [
        (task, model, condition)
        for task in ("rec", "mmlu")
        for model in ("Zed", "Model")
        for condition in ("RAG", "History")
    ]


@pytest.mark.parametrize(
    ("users", "units", "is_simulated"),
    [
        (["rag"], "contexts", True),
        (["rag", "field"], "contexts or real users", True),
        (["field"], "users", False),
    ],
)
def test_a_share_is_of_contexts_unless_people_asked(
    users: list[str], units: str, is_simulated: bool
) -> None:
    outline = OUTLINE._replace(conditions={name: name for name in users}, users=users)
    rows = [variance_row(0.002, condition=name) for name in users]
    section = answers.who_asks(rows, claims_of(*rows), outline)
    assert f"lies between {units}, and not between repeats" in section.question
    assert units.capitalize() in section.columns
    assert ("user and context cannot be told apart" in section.question) == is_simulated
    assert "another context for each prompt" not in section.question


def test_what_is_retrieved_is_another_context_for_each_prompt() -> None:
    section = answers.who_asks([], claims_of(), OUTLINE._replace(retrieval=["rag"]))
    assert section.question.endswith("With RAG it is another context for each prompt.")
