"""An arm at any size: at the study's own it is the plan's, and it grows in proportion."""

from pathlib import Path
from typing import Any

import pytest
from plan_cases import ASSUMED, CACHE, FOLDER, PRICE, SOURCE

from fieldwork import tables
from fieldwork.generation.planning.arm_sizes import ArmSizes
from fieldwork.generation.planning.loads import NOTHING_OBSERVED
from fieldwork.generation.planning.rows import plan_rows
from fieldwork.generation.planning.tables import PlanInputs, read_arms, read_requests
from fieldwork.generation.pricing import price_of
from fieldwork.generation.requests import ContextRef, plan_requests
from fieldwork.records.generation import Request
from fieldwork.records.puppets import Context, Message
from fieldwork.records.tasks import Item, ItemKind

RUNS = 4
ITEMS = ("a", "b", "c")
TASKS: dict[str, Any] = {"t": {"sources": [SOURCE], "runs": RUNS, "max_tokens": 5}}
CONDITIONS: dict[str, Any] = {
    "offline": {"context": "none"},
    "history": {"context": "history", "conversations": 3, "token_budget": 9000, "replicates": 2},
    "rag": {"context": "rag", "conversations": 1, "token_budget": 9000, "replicates": 1},
    "profile": {"context": "profile", "replicates": 1},
}
OPENAI: dict[str, Any] = {
    "provider": "openai",
    "model": "o",
    "requests_per_minute": None,
    "prefix_cache": CACHE,
}
MODELS: dict[str, Any] = {
    "local": {"provider": "embedded", "label": "E"},
    "live": OPENAI,
    "batch": {**OPENAI, "dispatch": "batch"},
    "gemini": {**OPENAI, "provider": "gemini", "explicit_cache": True, "cache_ttl_s": 3600},
    "unknown": {**OPENAI, "model": "x"},
}
PRICES = {
    "o": {
        **PRICE,
        "input": 1.0,
        "cached": 0.25,
        "cache_write": 1.25,
        "output": 4.0,
        "cache_storage": 1.0,
    }
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """Tables of a study; contexts of different lengths, and two puppets of equal profiles."""
    folder = tmp_path_factory.mktemp("study")
    items = [Item(i, "choice", i, i * 400, [], None, None, "x") for i in ITEMS]
    tables.write_rows(folder / "results/s/tasks/t.parquet", items, Item)
    written = {"results/s/tasks/t.parquet"}
    for condition, entry in CONDITIONS.items():
        made: list[Context] = []
        if entry["context"] == "none":
            refs = [ContextRef(None, None, None)]
        else:
            for item in ITEMS if condition == "rag" else [None]:
                for p in range(RUNS):
                    name = "same" if condition == "profile" and p < 2 else f"{item}-{p}"
                    row = Context(name, f"p{p}", item, [], [Message("user", "x")], 900 + 700 * p, 0)
                    made.append(row)
            refs = [ContextRef(c.context_id, c.puppet_id, c.item_id) for c in made]
            path = f"results/s/contexts/t/{condition}.parquet"
            tables.write_rows(folder / path, made, Context)
            written.add(path)
        repeats = entry.get("replicates", RUNS)
        asked = plan_requests(ITEMS, refs, repeats)
        path = f"results/s/requests/t/{condition}.parquet"
        tables.write_rows(folder / path, asked, Request)
        written.add(path)
    return folder, written


@pytest.fixture
def files(written: tuple[Path, set[str]], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    folder, paths = written
    monkeypatch.chdir(folder)
    return paths


def sizes(files: set[str], **more: Any) -> ArmSizes:
    study = PlanInputs(TASKS, CONDITIONS, MODELS, PRICES, ASSUMED, FOLDER, files)
    return ArmSizes(study._replace(**more))


@pytest.mark.parametrize("model", sorted(MODELS))
@pytest.mark.parametrize("condition", sorted(CONDITIONS))
@pytest.mark.parametrize("built", ["all", "items", "nothing"])
def test_at_the_studys_own_size_it_is_the_plan(
    files: set[str], built: str, condition: str, model: str
) -> None:
    there = {"all": files, "items": {"results/s/tasks/t.parquet"}, "nothing": set[str]()}[built]
    # the plan fills the schema's default
    conditions = {c: {"replicates": 1, **entry} for c, entry in CONDITIONS.items()}
    study = PlanInputs(TASKS, conditions, MODELS, PRICES, ASSUMED, FOLDER, there)
    key = ("t", condition)
    (arm,) = read_arms(study, model, {key: read_requests(study, *key)}, {})
    price = price_of(PRICES, MODELS[model].get("model", ""))
    (planned,) = (
        row for row in plan_rows(arm, MODELS[model], price, NOTHING_OBSERVED, 2) if row.is_chosen
    )
    replicates = CONDITIONS[condition].get("replicates", 1)
    found = sizes(there).at(model, *key, n_users=RUNS, replicates=replicates)
    assert found.n_calls == planned.n_requests
    assert found.cost_usd == planned.cost_expected_usd
    assert found.basis == planned.basis
    assert found.reason == planned.reason
    assert (found.cost_usd is None) == (model == "unknown")


def test_the_first_users_keep_their_contexts(files: set[str]) -> None:
    arms = sizes(files)
    found = [
        arms.at("batch", "t", "rag", n_users=n, replicates=1).cost_usd or 0 for n in (1, 2, RUNS)
    ]
    # contexts of 900, 1600, 2300 and 3000 tokens before three questions of 104, at half price
    per_user = [(3 * (900 + 700 * p + 104) + 3 * 2 * 4) / 2e6 for p in range(RUNS)]
    assert found == pytest.approx([per_user[0], sum(per_user[:2]), sum(per_user)])


@pytest.mark.parametrize("built", ["all", "items", "nothing"])
def test_where_probabilities_are_taken_choices_are_asked_once(files: set[str], built: str) -> None:
    there = {"all": files, "items": {"results/s/tasks/t.parquet"}, "nothing": set[str]()}[built]
    arms = sizes(there, is_by_probabilities=True)
    n_items = arms.n_items("t")

    def calls(condition: str, n_users: int, replicates: int = 1) -> int:
        size = arms.at("live", "t", condition, n_users=n_users, replicates=replicates)
        return size.n_calls

    assert [calls("offline", n) for n in (1, 2, 3, 800)] == [n_items, *[2 * n_items] * 3]
    assert calls("history", 10, replicates=5) == 10 * n_items
    assert calls("rag", 10) == 10 * n_items


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([SOURCE], {"choice": 7}),
        ([{"kind": "number", "item_ids": []}], {"number": 7}),
        ([{"kind": "mixed", "item_ids": ["a", "b"]}], {"list": 1, "choice": 1}),
        (
            [{"kind": "scale", "item_ids": ["a", "b", "c"]}, {"kind": "list", "item_ids": ["d"]}],
            {"scale": 3, "list": 1},
        ),
        (
            [{"kind": "scale", "item_ids": []}, {"kind": "text", "item_ids": ["d"]}],
            {"scale": 4, "text": 4},
        ),
    ],
)
def test_questions_that_are_not_here_have_the_kinds_of_their_sources(
    sources: list[dict[str, Any]], expected: dict[str, int]
) -> None:
    tasks = {"t": TASKS["t"] | {"sources": sources}}
    arms = ArmSizes(PlanInputs(tasks, CONDITIONS, MODELS, PRICES, ASSUMED, FOLDER, set()))
    kinds: tuple[ItemKind, ...] = ("list", "choice", "scale", "number", "text")
    assert {kind: n for kind in kinds if (n := arms.n_of_kind("t", kind))} == expected
    assert arms.n_graded("t") == expected.get("choice", 0)
