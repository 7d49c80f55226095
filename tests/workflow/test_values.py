"""Scales, numbers and texts: from a person's files through a model that writes to figure and findings."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from servers.provider import Chat, ModelSpec, serve_provider
from workflow.conftest import ONCE, Checkout, rows_of
from workflow.page_claims import require_agreement

pytestmark = pytest.mark.workflow

KEY = "secret-of-this-test-0123456789"
LABELS = ["Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree"]
FILES = {
    "attitudes.csv": "item_id,question,reversed\nhelps,New devices help.,\nharms,New devices harm.,yes\n",
    "sizes.csv": "item_id,question,unit,lowest\nheavy,How heavy is a bicycle?,kg,0\n",
    "advice.csv": "item_id,question\nadvice,Advise me.\n",
}


def answer(request: Mapping[str, Any]) -> str:
    """What a model that writes says: agreement with all, more of it after a history; pounds; prose."""
    messages = request["messages"]
    question, has_user = messages[-1]["content"], len(messages) > 1
    draw = hashlib.sha256(repr(request).encode()).digest()[0]
    if "bicycle" in question:
        return f"I would say {22 + draw % 4} pounds."
    if "Advise" in question:
        return "Sleep well and walk a lot."
    point = min(5, 3 + draw % 2 + has_user)
    return (f"{point}", f"{point}/5", f"{point}. {LABELS[point - 1]}", LABELS[point - 1])[draw % 4]


@pytest.fixture
def server() -> Iterator[Chat]:
    with serve_provider(specs=[ModelSpec("gpt-loop")], answer=answer, api_key=KEY) as running:
        yield running


def overlay(server: Chat) -> dict[str, Any]:
    model = {"provider": "openai", "label": "GPT", "model": "gpt-loop"}
    sources = {
        "attitudes": {"kind": "scale", "scale": {"labels": LABELS}},
        "sizes": {"kind": "number"},
        "advice": {"kind": "text"},
    }
    return {
        "study": {
            "models": ["gpt"],
            "conditions": ["offline", "history"],
            "tasks": list(sources),
            "primary": [{"measure": "value"}],
        },
        "models": {"gpt": model | {"api_key_env": "LOOPBACK_API_KEY", "base_url": server.base_url}},
        "conditions": {"history": ONCE["history"]},
        "datasets": {name: {"path": f"{name}.csv"} for name in sources},
        "tasks": {
            name: {
                "sources": [{"format": "items", "dataset": name} | source],
                "runs": 39,
                "max_tokens": 20,
            }
            for name, source in sources.items()
        },
        "metrics": {"permutations": 99},
    }


def test_scales_numbers_and_texts_are_answered_measured_and_shown(
    checkout: Checkout, server: Chat
) -> None:
    for name, text in FILES.items():
        (checkout.directory / name).write_text(text)
    path = checkout.study("values", overlay(server))
    targets = ["metrics/values.csv", "figures/values.svg", "figures/fig2.svg", "findings.md"]
    finished = checkout.snakemake(
        *(f"results/values/{target}" for target in targets),
        *("results/values/explorer", "--configfile", str(path)),
        env={"LOOPBACK_API_KEY": KEY},
    )
    assert finished.returncode == 0, finished.stderr[-3000:]
    answers = "FROM 'RESULTS/values/answers/answers.parquet'"
    unread = f"SELECT count(*) {answers} WHERE reason IS NOT NULL"
    assert rows_of(checkout, unread) == [(0,)]
    # all agree with all, so that the reversed item lies as far below the middle as the other above
    means = dict(
        rows_of(
            checkout,
            "SELECT item_id, mean FROM 'RESULTS/values/metrics/values.parquet' "
            "WHERE condition = 'offline' AND kind = 'scale' AND item_id IS NOT NULL",
        )
    )
    assert 3 <= means["helps"] <= 4
    assert 2 <= means["harms"] <= 3
    ((low, high),) = rows_of(
        checkout, f"SELECT min(value), max(value) {answers} WHERE kind = 'number'"
    )
    assert 9.9 < low < high < 11.4
    (texts,) = rows_of(checkout, f"SELECT count(*), count(value) {answers} WHERE kind = 'text'")
    assert texts == (78, 0)
    page = (checkout.results("values") / "findings.md").read_text()
    assert "### Scales and numbers" in page
    require_agreement(checkout, "values", ("history",))
    claims = rows_of(
        checkout,
        "SELECT item_id, verdict, direction FROM 'RESULTS/values/metrics/claims.parquet' "
        "WHERE measure = 'value' AND condition = 'history' AND item_id IN ('helps', 'harms')",
    )
    assert sorted(claims) == [("harms", "differs", "lower"), ("helps", "differs", "higher")]
