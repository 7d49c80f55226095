"""A key that servers repeat in their errors is in no file and no word of a study, failed or not."""

from collections.abc import Mapping
from contextlib import ExitStack
from itertools import zip_longest
from typing import Any

import pytest

from servers.faults import google_error, openai_error
from servers.provider import FOREVER, Chat, Fault, ModelSpec, serve_provider
from workflow.conftest import KEY, KEYS, Checkout, from_yaml, loopback_model

pytestmark = pytest.mark.workflow

TARGET = "results/keys/answers/answers.parquet"
ECHO = f"Incorrect API key provided: {KEY}"
ARMS = {"openai_live": "4o", "gemini_live": "gemini", "openai_batch": "4o"}
"""Models of the study, named by API and dispatch, and the family of each."""


def key_study(chats: Mapping[str, Chat]) -> Mapping[str, Any]:
    models = {}
    for name, chat in chats.items():
        api, _, dispatch = name.partition("_")
        url = chat.base_url if api == "openai" else chat.gemini_url
        batch = {"poll_s": 0.1, "listing_lag_s": 0.1}
        models[name] = loopback_model(url, "any-x", api, label=name, dispatch=dispatch, batch=batch)
    return from_yaml(
        """
        study: {models: $names, conditions: [offline], tasks: [probe]}
        models: $models
        tasks: {probe: {runs: 2}}
        generation: {attempts: 2, max_unreadable: 1}
        """,
        names=[*models],
        models=models,
    )


def echoes(name: str) -> list[list[Fault]]:
    """The bad days of each failing run; every error repeats the key."""

    def error(status: int, **more: Any) -> Fault:
        is_google = name.startswith("gemini")
        raw = google_error(status, ECHO) if is_google else openai_error(ECHO)
        return Fault(status=status, body=raw, times=FOREVER, **more)

    page = Fault(body=f"<html>{ECHO}</html>".encode(), times=FOREVER)
    if name.endswith("live"):
        return [[error(401, step="models")], [error(500), error(500, step="models")], [page]]
    return [[error(400, step="batches.create")], [error(401, step="row")]]


def test_a_key_that_errors_repeat_is_written_nowhere(checkout: Checkout) -> None:
    with ExitStack() as stack:
        chats = {
            name: stack.enter_context(
                serve_provider(
                    specs=[ModelSpec("any-x", family=family)], speed=5_000, answer=lambda _: "B"
                )
            )
            for name, family in ARMS.items()
        }
        arguments = ("--keep-going", "--configfile", str(checkout.study("keys", key_study(chats))))
        output = ""
        for faults in [*zip_longest(*map(echoes, ARMS), fillvalue=()), ((), (), ())]:
            failing = [name for name, days in zip(ARMS, faults, strict=True) if days]
            for chat, days in zip(chats.values(), faults, strict=True):
                chat.faults[:] = days
            run = checkout.snakemake(TARGET, *arguments, env=KEYS)
            assert (run.returncode == 0) == (not failing), run.stderr[-3000:]
            # each names its own server
            repeated = {line for line in run.stderr.splitlines() if line.startswith("ERROR: ")}
            assert len([line for line in repeated if "***" in line]) == len(failing), repeated
            output += run.stdout + run.stderr
    assert KEY not in output
    written = [path for path in checkout.root.rglob("*") if path.is_file()]
    assert any(path.parent.name == "ledger" for path in written)
    assert any("logs" in path.parts for path in written)
    assert any(".snakemake" in path.parts for path in written)
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []
