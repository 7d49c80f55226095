"""Everything that sending the requests of a job needs besides the requests, built from the config."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.accounts import Account, free_leftovers
from fieldwork.generation.agenda import PrefixCache
from fieldwork.generation.batches.files import BatchLimits
from fieldwork.generation.batches.journal import open_journal
from fieldwork.generation.budget import open_budget
from fieldwork.generation.ledger import Ledger, Tier, open_ledger, sole_asker
from fieldwork.generation.limits import Limits
from fieldwork.generation.preflight import check_model
from fieldwork.generation.pricing import Price, price_of
from fieldwork.generation.providers.base import Provider
from fieldwork.generation.providers.batch_base import BatchClient
from fieldwork.generation.providers.local import LocalModel
from fieldwork.generation.providers.registry import make_batch_client, make_provider


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
        leftovers: where batches of earlier runs are, some of them under way; None where there are none,
            where the tier is `batch`, and where nothing may be asked.
        characters_per_token: most characters of a prompt that a token can stand for, to know a server
            that cuts prompts; None for no check.
        require_time: called before each call; raises where the calls' time is over.
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
    leftovers: BatchDispatch | None = None
    characters_per_token: float | None = None
    require_time: Callable[[], None] | None = None


@contextmanager
def open_sender(
    name: str,
    model: Mapping[str, Any],
    generation: Mapping[str, Any],
    prices: Mapping[str, Any],
    *,
    max_tokens: int,
    folder: Path,
    vector_store: Path,
) -> Iterator[Sender]:
    """A sender for one job; closed at the end of the block.

    Args:
        name: entry of `models`.
        model: that entry, with defaults.
        generation: that section, and `may_ask`: false takes answers from the ledger alone.
        prices: the registry `prices`.
        max_tokens: limit of tokens in an answer.
        folder: where ledgers and the budget are.

    Raises:
        StudyError: a key is missing, a price is not valid, or spending against a budget cannot be
            counted.
    """
    tier: Tier = model.get("dispatch", "live")
    price = price_of(prices, model["model"]) if "model" in model else None
    with ExitStack() as stack:
        path = folder / f"{name}.sqlite"
        stack.enter_context(sole_asker(path))
        ledger = stack.enter_context(open_ledger(path))
        provider, cache = make_provider(model, vector_store), model.get("prefix_cache")
        limit_usd, budget = generation["budget_usd"], None
        if limit_usd is not None and not isinstance(provider, LocalModel):
            _require_countable(name, model, price)
        if price is not None:
            # without a limit too, so that today's spending counts if one is set later
            budget = stack.enter_context(open_budget(folder / "budget.sqlite", limit_usd, name))
        journal_path = folder / f"{name}.batches.sqlite"
        may_ask = generation.get("may_ask", True)
        awaits_batches = _awaits_batches(provider, journal_path)
        if budget is not None and price is not None and not awaits_batches:
            free_leftovers(budget, ledger, provider, price)
        has_batches = tier == "batch" or (awaits_batches and may_ask)
        dispatch = _batch_dispatch(model, provider, journal_path, stack) if has_batches else None
        yield Sender(
            provider=provider,
            ledger=ledger,
            limits=_limits(model, provider, max_tokens),
            account=Account(price, tier, max_tokens, budget),
            attempts=generation["attempts"],
            cache=PrefixCache(cache["min_tokens"], cache["requests_per_minute"]) if cache else None,
            tier=tier,
            price=price,
            preflight=_preflight(model, provider, path, may_ask=may_ask),
            batches=dispatch if tier == "batch" else None,
            leftovers=None if tier == "batch" else dispatch,
            characters_per_token=model.get("characters_per_token"),
        )


def _limits(model: Mapping[str, Any], provider: Provider, max_tokens: int) -> Limits:
    return Limits(
        ceiling=provider.concurrency,
        requests_per_minute=model.get("requests_per_minute"),
        tokens_per_minute=model.get("tokens_per_minute"),
        answer_tokens=max_tokens,
    )


def _preflight(
    model: Mapping[str, Any], provider: Provider, ledger: Path, *, may_ask: bool
) -> Callable[[float], Awaitable[None]] | None:
    if not may_ask:
        return _refusal(ledger)
    if isinstance(provider, LocalModel):
        return None

    async def check(estimate_s: float) -> None:
        today = datetime.now(UTC).date()
        await check_model(provider, model, estimate_s=estimate_s, today=today)

    return check


def _refusal(ledger: Path) -> Callable[[float], Awaitable[None]]:
    """What ends a job that would ask a model, where none may be asked."""

    async def refuse(_: float) -> None:
        raise StudyError(
            f"{ledger}: the ledger of this archive lacks an answer, and a study from an archive asks no "
            f"model (archived); the texts before a question differ from those that were asked with, or "
            f"the replies were left out: begin with the tables that came with the archive (README.md)"
        )

    return refuse


def _batch_dispatch(
    model: Mapping[str, Any], provider: Provider, journal_path: Path, stack: ExitStack
) -> BatchDispatch:
    settings = dict(model["batch"])
    poll_s = settings.pop("poll_s")
    client = stack.enter_context(closing(make_batch_client(provider, journal_path.parent)))
    return BatchDispatch(client, journal_path, BatchLimits(**settings), poll_s)


def _awaits_batches(provider: Provider, journal_path: Path) -> bool:
    """Whether batches are under way whose answers are not in the ledger yet."""
    if not journal_path.exists():
        return False
    with open_journal(journal_path, provider.endpoint) as journal:
        return bool(journal.open_runs())


def _require_countable(name: str, model: Mapping[str, Any], price: Price | None) -> None:
    if price is None:
        raise StudyError(
            f"generation.budget_usd is set, but prices has no entry {model.get('model')!r} for "
            f"models.{name}, so its spending cannot be counted; add the entry (zeros for your own "
            f"server), or set budget_usd to null"
        )
    if model.get("explicit_cache"):
        raise StudyError(
            f"generation.budget_usd is set, but with models.{name}.explicit_cache the provider stores "
            f"contexts, and no reply states what that costs, so spending could pass the limit; set "
            f"explicit_cache to false, or set budget_usd to null (snakemake plan estimates the cost)"
        )
