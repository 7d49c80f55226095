"""Conditions of which every call was another's are found by the calls, and tested once."""

from pathlib import Path
from typing import Any

from fieldwork import tables
from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.claims.keys import ArmKey
from fieldwork.metrics.claims.repeated_arms import repeated_arms
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.records.generation import Response
from fieldwork.sections.study import PrimaryEntry
from unit.metrics.findings.finding_rows import score_row
from unit.table_rows import response_of

ARM = ArmKey("m", "t", "second")
RULES = ClaimRules([PrimaryEntry(measure="score")], ["history", "rag"], [], {"score": 0.02})


def write(
    folder: Path, condition: str, keys: Any, task: str = "t", contexts: dict[str, str] | None = None
) -> str:
    """A table of responses with a key for each puppet, all with an empty context unless one is given."""
    rows = [
        response_of(
            task=task, condition=condition, puppet_id=p, ledger_key=key,
            context_id=(contexts or {}).get(p, "empty") if p else None,
        )
        for p, key in keys.items()
    ]  # fmt: skip
    path = folder / f"{task}-{condition}.parquet"
    tables.write_table(path, rows, Response)
    return str(path)


def test_the_same_calls_are_one_set_of_answers(tmp_path: Path) -> None:
    first = write(tmp_path, "first", {"a": "k1", "b": "k2"})
    same = write(tmp_path, "second", {"b": "k2", "a": "k1"})
    assert repeated_arms([first, same]) == {ARM: "first"}
    for keys in ({"a": "k2", "b": "k1"}, {"a": "k1"}, {"a": "k1", "b": None}, {}):
        assert repeated_arms([first, write(tmp_path, "second", keys)]) == {}
    assert repeated_arms([first, write(tmp_path, "second", {"a": "k1", "b": "k2"}, task="u")]) == {}
    # answers from no ledger are not compared
    unkeyed = [write(tmp_path, name, {"a": None, "b": None}) for name in ("first", "second")]
    assert repeated_arms(unkeyed) == {}


def test_users_who_bring_nothing_ask_what_is_asked_without_a_user(tmp_path: Path) -> None:
    """Empty memories: the calls are those without a user, and one side may have more of them."""
    alone = write(tmp_path, "first", {None: "k1"})
    for keys in ({"a": "k1"}, {"a": "k1", "b": "k2"}):
        assert repeated_arms([alone, write(tmp_path, "second", {**keys})]) == {ARM: "first"}
    assert repeated_arms([alone, write(tmp_path, "second", {"a": "k3", "b": "k2"})]) == {}
    assert repeated_arms([alone, write(tmp_path, "second", {None: "k2"})]) == {}
    # some who bring nothing do not make the others repeats
    mixed = write(tmp_path, "second", {"a": "k1", "b": "k2"}, contexts={"b": "likes chess"})
    assert repeated_arms([alone, mixed]) == {}


def test_a_repeated_arm_is_not_tested_again() -> None:
    rows = [score_row(0.02, condition=name) for name in ("history", "rag")]
    repeats = {ArmKey(rows[0].model, rows[0].task, "rag"): "history"}
    claims = measure_claims({"estimates": rows}, RULES, repeats)
    first, second = (claim for claim in claims if claim.measure == "score")
    assert (first.condition, first.n_tests, first.verdict) == ("history", 1, "differs")
    assert (second.verdict, second.reason) == ("not tested", "the same answers as under history")
