"""What all models on this machine share: no connection, no secrets, no list of models."""

import json
from collections.abc import Sequence

from fieldwork.generation.providers.base import ModelInfo
from fieldwork.records.puppets import Message


class LocalModel:
    """Base of providers that answer on this machine.

    A provider of its own defines `endpoint`, `question`, `send` and `read` (`base.Provider`).
    """

    # calls do not run at the same time; so many answers share one commit to the ledger
    concurrency = 64
    timeout_s: float | None = None
    sends_temperature = True

    def prefix(self, context: Sequence[Message]) -> bytes:
        """The context's messages as JSON, without its closing brace; equal contexts give equal bytes."""
        return json.dumps({"context": [[m.role, m.content] for m in context]})[:-1].encode()

    def delivery(self, context_id: str | None) -> bytes:  # noqa: ARG002
        """Empty: there is no delivery."""
        return b""

    def is_asked_for(self, returned_model: str) -> bool:  # noqa: ARG002
        """True: no other model can answer."""
        return True

    def mask(self, text: str) -> str:
        """The text itself: calls carry no secrets."""
        return text

    async def models(self) -> list[ModelInfo] | None:
        """None: there is no server."""
        return None

    async def close(self) -> None:
        """Do nothing: there is no connection."""
