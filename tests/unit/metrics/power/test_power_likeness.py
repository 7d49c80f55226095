"""How alike a user's answers are is found again in answers that were drawn with a known correlation."""

import itertools
from typing import Any

import numpy as np
import pytest

from fieldwork.metrics.power.effects import ListSource
from fieldwork.metrics.power.likeness import LEAST_USERS, Likeness, measure_likeness
from fieldwork.metrics.power.lists import log_weights
from fieldwork.metrics.power.tests_of_arms import lists_by_prompt
from unit.metrics.values.value_frames import answer as value_answer
from unit.metrics.values.value_frames import frame

N = 150
SOURCE = ListSource(3, 12, 1.0)


def answer(kind: str, user: int, item: int, **values: Any) -> dict[str, Any]:
    names = {"kind": kind, "item_id": f"i{item}"}
    return value_answer("history", f"p{user:04}", values.pop("value", None), **names | values)


def lists(likeness: float, n_users: int = N, n_items: int = 5) -> list[dict[str, Any]]:
    weights = np.broadcast_to(log_weights(12, 1.0), (n_users, 12))
    random = np.random.default_rng(5)
    prompts = lists_by_prompt(weights, SOURCE, n_items, likeness, random)
    return [
        answer("list", user, item, items=[f"o{o}" for o in np.flatnonzero(row)])
        for item, prompt in enumerate(prompts)
        for user, row in enumerate(prompt)
    ]


def letters(likeness: float) -> list[dict[str, Any]]:
    random = np.random.default_rng(6)
    common = random.choice(list("ABCD"), size=N, p=[0.6, 0.25, 0.1, 0.05])
    rows = []
    for item, user in itertools.product(range(5), range(N)):
        own = random.choice(list("ABCD"), p=[0.6, 0.25, 0.1, 0.05])
        letter = common[user] if random.random() < likeness**0.5 else own
        rows.append(answer("choice", user, item, letter=str(letter)))
    return rows


def values(likeness: float, kind: str) -> list[dict[str, Any]]:
    random = np.random.default_rng(7)
    latent = likeness**0.5 * random.normal(size=N)
    latent = latent + (1 - likeness) ** 0.5 * random.normal(size=(5, N))
    return [
        answer(kind, user, item, value=float(latent[item, user]), letter="A")
        for item, user in itertools.product(range(5), range(N))
    ]


def measure(rows: list[dict[str, Any]]) -> dict[tuple[str, str], Likeness]:
    return measure_likeness(frame(rows))  # type: ignore[return-value]


@pytest.mark.parametrize("likeness", [0.0, 0.4, 1.0])
def test_the_correlation_is_found_again(likeness: float) -> None:
    rows = [*lists(likeness), *letters(likeness), *values(likeness, "scale")]
    pilots = measure(rows)
    assert {kind for _, kind in pilots} == {"list", "choice", "scale"}
    for pilot in pilots.values():
        assert pilot.n_users == N
        assert pilot.estimate == pytest.approx(likeness, abs=4 * pilot.error + 0.02)
        assert pilot.error < 0.1


def test_few_users_one_prompt_and_reruns_say_nothing() -> None:
    assert measure(lists(0.5, n_users=LEAST_USERS - 1)) == {}
    assert measure(lists(0.5, n_items=1)) == {}
    assert measure([row | {"puppet_id": None} for row in lists(0.5)]) == {}
    alike = [row | {"items": ["o1", "o2", "o3"]} for row in lists(0.5)]
    assert measure(alike) == {}
    assert measure(values(0.5, "text")) == {}
