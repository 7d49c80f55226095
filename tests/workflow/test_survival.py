"""A key that servers repeat in their errors is in no file and no word of a study, failed or not."""

from collections.abc import Mapping
from typing import Any

import pytest

from servers.faults import google_error, openai_error
from servers.provider import FOREVER, Chat, Fault, ModelSpec, serve_provider
from workflow.conftest import Checkout

pytestmark = pytest.mark.workflow

KEY = "secret-of-this-test-5556667777"
TARGET = "results/keys/answers/answers.parquet"
ECHO = f"Incorrect API key provided: {KEY}"


def key_study(chat: Chat, api: str, dispatch: str) -> Mapping[str, Any]:
    url = chat.base_url if api == "openai" else chat.gemini_url
    served = {
        "provider": api,
        "label": "Served",
        "model": "any-x",
        "base_url": url,
        "api_key_env": "LOOPBACK_API_KEY",
        "dispatch": dispatch,
        "batch": {"poll_s": 0.1, "listing_lag_s": 0.1},
    }
    return {
        "study": {
            "name": "keys",
            "models": ["served"],
            "conditions": ["offline"],
            "tasks": ["probe"],
        },
        "models": {"served": served},
        "tasks": {"probe": {"runs": 2}},
        "generation": {"attempts": 2, "max_unreadable": 1},
    }


def echoes(api: str, dispatch: str) -> list[list[Fault]]:
    """The bad days of each failing run; every error repeats the key."""

    def error(status: int, **more: Any) -> Fault:
        raw = openai_error(ECHO) if api == "openai" else google_error(status, ECHO)
        return Fault(status=status, body=raw, times=FOREVER, **more)

    page = Fault(body=f"<html>{ECHO}</html>".encode(), times=FOREVER)
    if dispatch == "live":
        return [[error(401, step="models")], [error(500), error(500, step="models")], [page]]
    return [[error(400, step="batches.create")], [error(401, step="row")]]


ARMS = [("openai", "live"), ("gemini", "live"), ("openai", "batch")]


@pytest.mark.parametrize(("api", "dispatch"), ARMS)
def test_a_key_that_errors_repeat_is_written_nowhere(
    api: str, dispatch: str, checkout: Checkout
) -> None:
    specs = [ModelSpec("any-x", family="gemini" if api == "gemini" else "4o")]
    with serve_provider(specs=specs, speed=5_000, answer=lambda _: "B") as chat:
        study = checkout.study("keys", key_study(chat, api, dispatch))
        arguments = (TARGET, "--configfile", str(study))
        said = ""
        for faults in [*echoes(api, dispatch), []]:
            chat.faults[:] = faults
            run = checkout.snakemake(*arguments, env={"LOOPBACK_API_KEY": KEY})
            assert (run.returncode == 0) == (not faults), run.stderr[-3000:]
            assert not faults or "***" in run.stderr, "the errors were to repeat the key"
            said += run.stdout + run.stderr
    assert KEY not in said
    written = [path for path in checkout.root.rglob("*") if path.is_file()]
    assert any(path.parent.name == "ledger" for path in written)
    assert any("logs" in path.parts for path in written)
    assert any(".snakemake" in path.parts for path in written)
    assert [
        path for path in written if KEY.encode() in path.read_bytes() and path.suffix != ".py"
    ] == []
