"""An arm at any size: at the study's own it is the plan's, and it grows in proportion."""

from pathlib import Path
from typing import Any

import pytest
from plan_cases import ASSUMED, FOLDER, GEMINI, ITEMS_TABLE, OPENAI, PRICE, SOURCE, write_arm
from plan_cases import item_of as question_of

from fieldwork.generation.planning.arm_sizes import ArmSizes
from fieldwork.generation.planning.loads import NOTHING_OBSERVED
from fieldwork.generation.planning.rows import plan_rows
from fieldwork.generation.planning.tables import PlanInputs, read_arms, read_requests
from fieldwork.generation.pricing import price_of
from fieldwork.generation.requests import ContextRef, plan_requests
from fieldwork.records.puppets import Context, Message
from fieldwork.records.tasks import ItemKind

RUNS = 4
ITEMS = ("a", "b", "c")
TASKS: dict[str, Any] = {"t": {"sources": [SOURCE], "runs": RUNS, "max_tokens": 5}}
BUDGET = {"token_budget": 9000}
CONDITIONS: dict[str, Any] = {
    "offline": {"context": "none"},
    "history": {"context": "history", "conversations": 3, "replicates": 2, **BUDGET},
    "rag": {"context": "rag", "conversations": 1, "replicates": 1, **BUDGET},
    "profile": {"context": "profile", "replicates": 1},
}
MODELS: dict[str, Any] = {
    "local": {"provider": "embedded", "label": "E"},
    "live": OPENAI,
    "batch": {**OPENAI, "dispatch": "batch"},
    "gemini": GEMINI,
    "unknown": {**OPENAI, "model": "x"},
}
FEES = {"cached": 0.25, "cache_write": 1.25, "cache_storage": 1.0}
PRICES = {"m": {**PRICE, "input": 1.0, "output": 4.0, **FEES}}
BUILT = ["all", "items", "nothing"]


def contexts_of(condition: str) -> list[Context]:
    """Of different lengths; two puppets have equal profiles."""
    made = []
    for item in {"offline": [], "rag": ITEMS}.get(condition, [None]):
        for p in range(RUNS):
            name = "same" if condition == "profile" and p < 2 else f"{item}-{p}"
            made.append(Context(name, f"p{p}", item, [], [Message("user", "x")], 900 + 700 * p, 0))
    return made


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    folder = tmp_path_factory.mktemp("study")
    paths: set[str] = set()
    for condition, entry in CONDITIONS.items():
        made = contexts_of(condition)
        refs = [ContextRef(c.context_id, c.puppet_id, c.item_id) for c in made]
        refs = refs or [ContextRef(None, None, None)]
        requests = plan_requests(ITEMS, refs, entry.get("replicates", RUNS))
        items = [question_of(name, 400) for name in ITEMS]
        paths |= write_arm(condition, items, made, requests, folder)
    return folder, paths


@pytest.fixture
def files(written: tuple[Path, set[str]], monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    folder, paths = written
    monkeypatch.chdir(folder)
    return {"all": paths, "items": {ITEMS_TABLE}, "nothing": set()}


def sizes(files: set[str], **more: Any) -> ArmSizes:
    study = PlanInputs(TASKS, CONDITIONS, MODELS, PRICES, ASSUMED, FOLDER, files)
    return ArmSizes(study._replace(**more))


@pytest.mark.parametrize("model", sorted(MODELS))
@pytest.mark.parametrize("condition", sorted(CONDITIONS))
@pytest.mark.parametrize("built", BUILT)
def test_at_the_studys_own_size_it_is_the_plan(
    files: dict[str, set[str]], built: str, condition: str, model: str
) -> None:
    # the plan fills the schema's default
    conditions = {c: {"replicates": 1, **entry} for c, entry in CONDITIONS.items()}
    study = PlanInputs(TASKS, conditions, MODELS, PRICES, ASSUMED, FOLDER, files[built])
    key = ("t", condition)
    (arm,) = read_arms(study, model, {key: read_requests(study, *key)}, {})
    price = price_of(PRICES, MODELS[model].get("model", ""))
    rows = plan_rows(arm, MODELS[model], price, NOTHING_OBSERVED, 2)
    (planned,) = (row for row in rows if row.is_chosen)
    replicates = CONDITIONS[condition].get("replicates", 1)
    found = sizes(files[built]).at(model, *key, n_users=RUNS, replicates=replicates)
    assert found.n_calls == planned.n_requests
    assert found.cost_usd == planned.cost_expected_usd
    assert found.basis == planned.basis
    assert found.reason == planned.reason
    assert (found.cost_usd is None) == (model == "unknown")


def test_the_first_users_keep_their_contexts(files: dict[str, set[str]]) -> None:
    arms, counts = sizes(files["all"]), (1, 2, RUNS)
    found = [arms.at("batch", "t", "rag", n_users=n, replicates=1).cost_usd for n in counts]
    # contexts of 900, 1600, 2300 and 3000 tokens before three questions of 104, at half price
    per_user = [(3 * (900 + 700 * p + 104) + 3 * 2 * 4) / 2e6 for p in range(RUNS)]
    assert found == pytest.approx([sum(per_user[:n]) for n in counts])


@pytest.mark.parametrize("built", BUILT)
def test_where_probabilities_are_taken_choices_are_asked_once(
    files: dict[str, set[str]], built: str
) -> None:
    arms = sizes(files[built], is_by_probabilities=True)
    n_items = arms.n_items("t")

    def calls(condition: str, n_users: int, replicates: int = 1) -> int:
        size = arms.at("live", "t", condition, n_users=n_users, replicates=replicates)
        return size.n_calls

    assert [calls("offline", n) for n in (1, 2, 3, 800)] == [n_items, *[2 * n_items] * 3]
    assert calls("history", 10, replicates=5) == calls("rag", 10) == 10 * n_items


def of_kind(kind: str, *item_ids: str) -> dict[str, Any]:
    return {"kind": kind, "item_ids": list(item_ids)}


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([SOURCE], {"choice": 7}),
        ([of_kind("number")], {"number": 7}),
        ([of_kind("mixed", "a", "b")], {"list": 1, "choice": 1}),
        ([of_kind("scale", "a", "b", "c"), of_kind("list", "d")], {"scale": 3, "list": 1}),
        ([of_kind("scale"), of_kind("text", "d")], {"scale": 4, "text": 4}),
    ],
)
def test_questions_that_are_not_here_have_the_kinds_of_their_sources(
    sources: list[dict[str, Any]], expected: dict[str, int]
) -> None:
    arms = sizes(set(), tasks={"t": TASKS["t"] | {"sources": sources}})
    kinds: tuple[ItemKind, ...] = ("list", "choice", "scale", "number", "text")
    assert {kind: n for kind in kinds if (n := arms.n_of_kind("t", kind))} == expected
    assert arms.n_graded("t") == expected.get("choice", 0)
