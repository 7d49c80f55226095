"""What a path leads to."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from servers.faults import Fault
from servers.model_server import Chat, ChatRequest

Handler = Callable[["Received"], Awaitable["Reply"]]


class Received(NamedTuple):
    """What a handler gets: `match` holds the groups of its route's path."""

    chat: Chat
    seen: ChatRequest
    match: Mapping[str, str]
    fault: Fault


class Reply(NamedTuple):
    """What is sent, unless a fault comes in between.

    `pauses_s` are the real seconds before each event of a stream; empty for a body in one piece.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = {}
    content_type: str = "application/json"
    pauses_s: Sequence[float] = ()


class Route(NamedTuple):
    """`path` is a regular expression; `step` is what faults call the call."""

    method: str
    path: str
    step: str
    handler: Handler


class Found(NamedTuple):
    """A route and what its path's groups matched."""

    route: Route
    match: Mapping[str, str]


def json_reply(body: Any, headers: Mapping[str, str] | None = None, status: int = 200) -> Reply:
    """A reply of JSON, in ASCII: lone surrogates stay what they are."""
    return Reply(status, json.dumps(body).encode(), headers or {})


def find_route(routes: Sequence[Route], method: str, path: str) -> Found | None:
    """The first route that fits."""
    for route in routes:
        match = re.fullmatch(route.path, path) if route.method == method else None
        if match:
            groups = {k: v for k, v in match.groupdict().items() if v is not None}
            return Found(route, groups)
    return None
