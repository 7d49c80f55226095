"""What sending the requests of a job needs besides the requests."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from fieldwork.generation.accounts import Account
from fieldwork.generation.agenda import PrefixCache
from fieldwork.generation.batches.files import BatchLimits
from fieldwork.generation.ledger import Ledger, Tier
from fieldwork.generation.limits import Limits
from fieldwork.generation.pricing import Price
from fieldwork.generation.providers.base import Provider
from fieldwork.generation.providers.batch_base import BatchClient


class BatchDesk(NamedTuple):
    """How batches are handed in and waited for.

    Attributes:
        poll_s: seconds between looks at batches under way.
    """

    client: BatchClient
    journal_path: Path
    limits: BatchLimits
    poll_s: float


class Sender(NamedTuple):
    """Everything that sending needs besides the requests.

    Attributes:
        attempts: sends a request may take before it counts as failed.
        cache: None where the provider has no prefix cache.
        preflight: called once, with the seconds asking may take, before the first call is sent.
        batches: where the tier is `batch`, who takes them.
    """

    provider: Provider
    ledger: Ledger
    limits: Limits
    account: Account
    attempts: int
    cache: PrefixCache | None = None
    tier: Tier = "live"
    price: Price | None = None
    preflight: Callable[[float], Awaitable[None]] | None = None
    batches: BatchDesk | None = None
