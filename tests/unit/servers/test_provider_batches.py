"""OpenAI's batches on the loopback server, through the official SDK."""

import json
from typing import Any

import pytest
from provider_clients import PRICES, QUICK_S, client

from servers.provider import Chat

WHOLE = QUICK_S + 1


def lines(n: int, model: str = "gpt-4o", **more: Any) -> bytes:
    rows = [
        {
            "custom_id": f"row-{i}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"model": model, "messages": [{"role": "user", "content": f"Why {i}?"}]},
        }
        | more
        for i in range(n)
    ]
    return b"\n".join(json.dumps(row).encode() for row in rows)


def submit(server: Chat, data: bytes, **metadata: str) -> Any:
    sdk = client(server)
    file = sdk.files.create(file=("requests.jsonl", data), purpose="batch")
    return sdk.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata=metadata or None,
    )


def results(server: Chat, file_id: str | None) -> list[dict[str, Any]]:
    assert file_id is not None
    text = client(server).files.content(file_id).text
    return [json.loads(line) for line in text.splitlines()]


def after(server: Chat, batch: Any, seconds: float) -> Any:
    server.clock.skip(seconds)
    return client(server).batches.retrieve(batch.id)


def test_a_batch_goes_through_its_states_at_half_price(server: Chat) -> None:
    batch = submit(server, lines(10), run="r1")
    assert (batch.status, batch.metadata) == ("validating", {"run": "r1"})
    seen = [after(server, batch, s).status for s in (1.5, 10, 1)]
    assert seen == ["in_progress", "finalizing", "completed"]
    done = after(server, batch, 0)
    assert done.request_counts.to_dict() == {"total": 10, "completed": 10, "failed": 0}
    assert done.error_file_id is None
    rows = results(server, done.output_file_id)
    ids = [row["custom_id"] for row in rows]
    assert sorted(ids) == sorted(f"row-{i}" for i in range(10))
    assert ids != [f"row-{i}" for i in range(10)]
    texts = {row["response"]["body"]["choices"][0]["message"]["content"] for row in rows}
    assert len(texts) == 10
    line, price = server.bill.lines["gpt-4o", "batch"], PRICES["gpt-4o"]
    full = line.input * price["input"] + line.output * price["output"]
    assert line.requests == 10
    assert line.usd == pytest.approx(full / 2 / 1e6)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"{broken", "invalid_json_line"),
        (lines(1) + b"\n" + lines(1), "duplicate_custom_id"),
        (lines(1) + b"\n" + lines(1, "gpt-5", custom_id="other"), "mismatched_model"),
        (lines(4), "too_many_requests"),
    ],
)
def test_what_validation_finds(server: Chat, data: bytes, code: str) -> None:
    server.batch.max_requests = 3
    batch = after(server, submit(server, data), 2)
    assert batch.status == "failed"
    assert batch.output_file_id is None
    assert [error.code for error in batch.errors.data] == [code]
    assert server.bill.usd == 0


def test_an_expired_batch_returns_and_bills_what_finished(server: Chat) -> None:
    server.batch.done_share = 0.4
    batch = submit(server, lines(10))
    assert after(server, batch, 80_000).status == "in_progress"
    done = after(server, batch, 6_400)
    assert (done.status, done.request_counts.completed) == ("expired", 4)
    assert len(results(server, done.output_file_id)) == 4
    left = results(server, done.error_file_id)
    assert {row["error"]["code"] for row in left} == {"batch_expired"}
    assert {row["response"] for row in left} == {None}
    assert server.bill.lines["gpt-4o", "batch"].requests == 4
