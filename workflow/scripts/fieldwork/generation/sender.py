"""Everything that sending the requests of a job needs, besides the requests."""

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


class BatchDispatch(NamedTuple):
    """How batches are submitted and waited for.

    Attributes:
        poll_s: seconds between two checks of the batches under way.
    """

    client: BatchClient
    journal_path: Path
    limits: BatchLimits
    poll_s: float


class Sender(NamedTuple):
    """Everything that sending needs besides the requests.

    Attributes:
        attempts: tries of a request before it counts as failed.
        cache: None where the provider has no prefix cache.
        preflight: called once, before the first call, with the seconds that the job may take.
        batches: where batches go; None where the tier is not `batch`.
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
    batches: BatchDispatch | None = None
