"""Power counts the tests that a study makes: each kind of task is answered, measured and claimed."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from power_plans import place, planned_study

from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.claims.keys import ClaimKey
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.nests import measure_nests
from fieldwork.metrics.novelty import measure_novelty
from fieldwork.metrics.power.family import counted_measures, effect_family
from fieldwork.metrics.power.study import PlannedStudy, PlannedTask
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.metrics.values.comparisons import measure_value_comparisons
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.claims import Claim
from fieldwork.records.columns import table_of
from fieldwork.records.tasks import OPTION_KINDS, VALUE_KINDS
from fieldwork.sections.study import PrimaryEntry
from unit.metrics.metric_frames import list_means, score_estimates

MODELS = ("m", "n")
USERS = ("history", "other_history", "profile")
REPEATED = ("history", "other_history")
NESTS = {"history": ["history", "other_history"]}
N = 12
MARGINS = {"share_who": 0.05, "entropy_bits": 0.25, "score": 0.02, "share": 0.1}
SETTINGS: dict[str, Any] = {"baseline": "offline", "n_permutations": 199, "seed": 1}
PRIMARY = [PrimaryEntry(measure=name) for name in ("share_who", "entropy_bits", "score", "value")]

TASKS = {
    "lists": PlannedTask({"list": 3}),
    "benchmark": PlannedTask({"choice": 3}, 3),
    "opinions": PlannedTask({"choice": 3}),
    "scales": PlannedTask({"scale": 3}),
    "one_scale": PlannedTask({"scale": 1}),
    "numbers": PlannedTask({"number": 2}),
    "texts": PlannedTask({"text": 2}),
    "mixed": PlannedTask({"list": 2, "choice": 2}, 1),
    "survey": PlannedTask({"scale": 2, "number": 1}),
}


def questions_of(task: str) -> Iterator[tuple[str, str, str | None]]:
    """Id, kind and right answer of the task's questions."""
    counts = TASKS[task]
    for kind, n in counts.prompts.items():
        for k in range(n):
            gold = "A" if kind == "choice" and k < counts.n_graded else None
            yield f"{kind}{k}", kind, gold


def answer_of(kind: str, random: np.random.Generator) -> dict[str, Any]:
    letter = "ABC"[int(random.integers(3))]
    match kind:
        case "list":
            options = random.choice(8, size=3, replace=False)
            return {"items": [f"o{k}" for k in sorted(options)]}
        case "choice":
            return {"letter": letter, "letter_strict": letter}
        case "scale":
            return {"letter": letter, "value": float("ABC".index(letter) + 1)}
        case "number":
            return {"value": float(random.integers(10))}
    return {}


def answers(tasks: Sequence[str]) -> pd.DataFrame:
    random, rows = np.random.default_rng(8), []
    blank = dict.fromkeys(("items", "letter", "letter_strict", "value", "reason"))
    arms = product(MODELS, ("offline", "again", *USERS), tasks)
    for model, condition, task in arms:
        is_user = condition in USERS
        names = {"model": model, "task": task, "condition": condition, "outcome": "ok"}
        for item, kind, _ in questions_of(task):
            for unit, replicate in np.ndindex(N, 2 if condition in REPEATED else 1):
                who = (f"p{unit:02}", replicate) if is_user else (None, unit)
                place = {"item_id": item, "kind": kind, "puppet_id": who[0], "replicate": who[1]}
                rows.append(blank | names | place | answer_of(kind, random))
    return pd.DataFrame(rows).astype({"value": "float64"})


def items(tasks: Sequence[str]) -> pd.DataFrame:
    rows = [
        (item, kind, task, gold, ["a", "b", "c"], "s", [1.0, 2.0, 3.0] if kind == "scale" else None)
        for task in tasks
        for item, kind, gold in questions_of(task)
    ]
    columns = ["item_id", "kind", "task", "gold", "choices", "subject", "points"]
    return pd.DataFrame(rows, columns=columns)


@cache
def measure_tables(tasks: tuple[str, ...]) -> dict[str, Sequence[Any]]:
    """What the study's own tables say of such answers."""
    frame, questions = answers(tasks), items(tasks)
    tables: list[Sequence[Any]] = [
        measure_variance(frame, **SETTINGS),
        measure_nests(frame, nests=NESTS, rarest_users=0.3, n_permutations=199, seed=1),
        [*list_means(frame), *score_estimates(measure_runs(frame, questions), **SETTINGS)],
        measure_shifts(frame, baseline="offline"),
        measure_comparisons(frame, metrics=["js_bits"], **SETTINGS),
        measure_value_comparisons(frame, questions, **SETTINGS),
        measure_score_spreads(measure_runs(frame, questions), **SETTINGS),
        measure_novelty(frame, control="again", **SETTINGS),
    ]
    return {table_of(type(rows[0])).name: rows for rows in tables if rows}


def study_of(tasks: Sequence[str], rules: ClaimRules) -> PlannedStudy:
    return planned_study(
        {task: TASKS[task] for task in tasks},
        models=dict.fromkeys(MODELS, ""),
        conditions=dict.fromkeys(USERS, ""),
        rules=rules,
        asked_again=REPEATED,
        nests=NESTS,
    )


def count_made(study: Sequence[Claim]) -> Mapping[str, int]:
    """Tests of users' conditions; of options all prompts that have one."""
    families: dict[str, set[tuple[Any, ...]]] = {}
    for claim in study:
        is_counted = claim.condition in USERS and claim.measure in counted_measures()
        if claim.p_value is not None and is_counted:
            detail = None if claim.measure == "option_share" else claim.detail
            key = (claim.measure, claim.model, claim.task, claim.condition, claim.item_id, detail)
            families.setdefault(claim.family, set()).add(key)
    return {family: len(keys) for family, keys in families.items()}


def places(tasks: Sequence[str]) -> Iterator[ClaimKey]:
    """Effects that power simulates, one of each measure and task."""
    for task in tasks:
        questions = TASKS[task]
        n_options = questions.count(OPTION_KINDS)
        numbers = {"share_who": questions.by_kind, "entropy_bits": questions.count(["list"])}
        numbers |= {"score": questions.n_graded, "value": questions.count(VALUE_KINDS)}
        numbers |= {"distance": n_options, "option_share": n_options}
        yield from (place(measure, "m", task, "history") for measure, n in numbers.items() if n)
        if questions.count(["scale"]) > 1:
            yield place("value", "m", task, "history", "scale")


STUDIES = [*((task,) for task in TASKS), tuple(TASKS), ("opinions", "benchmark", "numbers")]


@pytest.mark.parametrize("tasks", STUDIES, ids="+".join)
@pytest.mark.parametrize("primary", [PRIMARY, PRIMARY[:1], []], ids=["four", "one", "none"])
def test_as_many_tests_are_announced_as_are_made(
    tasks: tuple[str, ...], primary: Sequence[PrimaryEntry]
) -> None:
    rules = ClaimRules(primary, USERS, ["again"], MARGINS)
    made = count_made(measure_claims(measure_tables(tasks), rules))
    study = study_of(tasks, rules)
    families = {where: effect_family(where, study) for where in places(tasks)}
    for family in families.values():
        n_options = sum(arms.n_prompts * arms.n_arms for arms in family.options)
        n_planned = n_options if family.options else family.n_plain + 1
        assert n_planned == made[family.name], family.name
    if "texts" not in tasks or len(tasks) > 1:
        assert ("primary" in made) == any(family.name == "primary" for family in families.values())
