"""The section about the offline score and practice, and its sentence."""

from fieldwork.metrics.findings.practice import practice_sections, practice_sentence
from fieldwork.metrics.findings.verdicts import StudyClaims
from fieldwork.records.practice import PracticeDrop, PracticeTurn
from unit.metrics.findings.finding_rows import OUTLINE, cells, claims_of, practice_row

STUDY = OUTLINE._replace(tasks=["mmlu", "typos"])


def test_a_way_of_asking_is_a_row() -> None:
    row = practice_row(0.001)
    (section,) = practice_sections([row], [], [], claims_of(row), STUDY)
    assert cells(section) == [
        ("mmlu", "typos", "T1", "0.75 (none)", "4 of 21", "1", "−2.0", "same order")
    ]


def test_asking_again_is_no_other_way_of_asking() -> None:
    again = practice_row(0.001, way_task="mmlu", condition="again")
    assert practice_sentence([again], claims_of(again), STUDY) == ""
    (section,) = practice_sections([again], [], [], claims_of(again), STUDY)
    assert len(section.findings) == 1
    # a variant that is asked again is another way
    variant = practice_row(0.001, condition="again")
    assert "in 1 of 1" in practice_sentence([variant], claims_of(variant), STUDY)


def test_the_sentence_counts_ways_that_hold() -> None:
    rows = [
        practice_row(0.001),
        practice_row(0.3, condition="history", n_beyond_chance=0),
        practice_row(0.001, metric="em_flexible"),
    ]
    assert practice_sentence(rows, claims_of(*rows), STUDY) == (
        "the order of the 7 models is shown to hold in 1 of 2 other ways of asking"
    )
    turned = practice_row(0.001, rho=-0.9, n_beyond_chance=3)
    assert practice_sentence([turned], claims_of(turned), STUDY) == (
        "the order of the 7 models is shown to hold in 0 of 1 other way of asking "
        "and turned round in 1"
    )


def test_too_few_models_for_a_test_are_said_to_be() -> None:
    row = practice_row(0.3, n_models=3, n_pairs=3, n_beyond_chance=0, p_least=1 / 3)
    assert practice_sentence([row], claims_of(row), STUDY) == (
        "whether the order of the 3 models holds cannot be tested"
    )


def test_a_study_of_few_models_says_nothing() -> None:
    row = practice_row(None, rho=None, n_models=1, reason="no order: 1 model")
    assert practice_sections([row], [], [], claims_of(row), STUDY) == []
    assert practice_sentence([row], claims_of(row), STUDY) == ""
    assert practice_sentence([], StudyClaims(), STUDY) == ""


def turn(other: str, *, is_beyond_chance: bool = True, condition: str = "history") -> PracticeTurn:
    return PracticeTurn(
        task="mmlu",
        metric="em_strict",
        way_task="typos",
        condition=condition,
        model="m",
        other=other,
        lead=0.1,
        lead_low=0.05,
        lead_high=0.15,
        way_lead=-0.1,
        way_low=-0.15,
        way_high=-0.05,
        is_beyond_chance=is_beyond_chance,
        reason=None,
    )


def test_pairs_that_turn_beyond_chance_have_names() -> None:
    study = STUDY._replace(models={name: f"Model {name}" for name in "mabcd"})
    row = practice_row(0.001, condition="history", n_beyond_chance=4)
    turns = [
        turn("a", is_beyond_chance=False),
        turn("d", condition="offline"),
        *map(turn, "abcd"),
    ]
    (section,) = practice_sections([row], turns, [], claims_of(row), study)
    assert cells(section)[0][5] == (
        "4: Model a before Model m, Model b before Model m, Model c before Model m, …"
    )


def drop(variant: str, part: float | None, **changes: object) -> PracticeDrop:
    values = {
        "task": "mmlu",
        "metric": "em_strict",
        "model": None,
        "variant": variant,
        "harshest": "history + typos",
        "total_drop": 0.2,
        "drop": part,
        "ci_low": None if part is None else part - 0.01,
        "ci_high": None if part is None else part + 0.01,
        "share": None if part is None else part / 0.2,
        "n_models": 3,
        "n_combinations": 4,
        "reason": None,
    }
    return PracticeDrop(**values | changes)  # type: ignore[arg-type]


def test_each_variant_has_its_part_of_the_loss() -> None:
    drops = [
        drop("history", 0.15),
        drop("typos", 0.05, ci_low=None, ci_high=None, reason="no interval: a way was asked once"),
        drop("typos", 0.05, model="m"),
        drop("typos", 0.05, metric="em_flexible"),
    ]
    (section,) = practice_sections([], [], drops, StudyClaims(), STUDY)
    assert cells(section) == [
        ("mmlu", OUTLINE.label("history"), "15.0 (14.0…16.0)", "20.0", "75", "3", "no test"),
        (
            "mmlu",
            "typos",
            "5.0 (none)",
            "20.0",
            "25",
            "3",
            "no test: a way was asked once",
        ),
    ]


def test_a_loss_without_parts_or_of_one_variant_is_not_shown() -> None:
    drops = [drop("typos", None), drop("typos", 0.2, n_combinations=2)]
    assert practice_sections([], [], drops, StudyClaims(), STUDY) == []
