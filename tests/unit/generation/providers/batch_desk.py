"""A study's batches against the loopback server, for the tests of the batch clients."""

import time
from collections import Counter
from pathlib import Path

from senders import item_of, sender_of

from fieldwork.generation.agenda import Call, OpenGroup
from fieldwork.generation.batches.files import BatchLimits
from fieldwork.generation.batches.patience import Clock
from fieldwork.generation.batches.settling import settle_batches
from fieldwork.generation.ledger import Entry, ledger_key, open_ledger
from fieldwork.generation.providers.base import Provider, Sampling, Wire
from fieldwork.generation.providers.batch_base import BatchClient
from fieldwork.generation.sending import BatchDispatch
from fieldwork.records.puppets import Message
from servers.provider import Chat

SPEED = 20_000.0
LIMITS = BatchLimits(max_requests=4, listing_lag_s=5, attempts=4)
# seconds that we count while one passes
HASTE = 50.0


class Desk:
    """Calls after one context, and what settles them: a ledger and a journal in a folder."""

    def __init__(self, folder: Path, client: BatchClient, provider: Provider, n: int = 6) -> None:
        self._folder, self._client, self._provider = folder, client, provider
        context = [Message("user", "I like\ntea."), Message("assistant", "So do I.")]
        prefix, delivery = provider.prefix(context), provider.delivery("c")
        self.calls = []
        for number in range(n):
            item = item_of(f"q{number}")
            question = provider.question(item, Sampling(1.0, 8, number))
            key = ledger_key((prefix + question).ljust(32)[:999], provider.endpoint, 0)
            wire = Wire(prefix, question, delivery)
            self.calls.append(Call(key, 0, wire, OpenGroup(0), item))

    def settle(self, limits: BatchLimits = LIMITS, haste: float = HASTE) -> Counter[str]:
        """One run."""
        with open_ledger(self._folder / "m.sqlite") as ledger:
            return settle_batches(
                self.calls,
                sender_of(self._provider, ledger, tier="batch"),
                BatchDispatch(self._client, self._folder / "m.batches.sqlite", limits, poll_s=1),
                clock=Clock(lambda: haste * time.monotonic(), lambda s: time.sleep(s / haste)),
            )

    def entries(self) -> dict[bytes, Entry]:
        """What the ledger holds."""
        with open_ledger(self._folder / "m.sqlite") as ledger:
            return {e.key: e for e in ledger.entries([call.key for call in self.calls])}

    def texts(self) -> list[str | None]:
        """All answers' texts."""
        return [self._provider.read(entry.raw).text for entry in self.entries().values()]

    def files(self) -> bytes:
        """Everything that was written."""
        return b"".join(p.read_bytes() for p in sorted(self._folder.iterdir()) if p.is_file())


def n_run(chat: Chat) -> int:
    """Requests the server has billed."""
    return sum(line.requests for line in chat.bill.lines.values())


def seen(chat: Chat, method: str, ending: str) -> int:
    """Calls that the server saw."""
    return sum(r.method == method and r.path.endswith(ending) for r in chat.requests)
