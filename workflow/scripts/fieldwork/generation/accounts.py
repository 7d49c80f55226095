"""What a job has spent so far: tokens, dollars, the share read from caches, and the budget it keeps."""

import logging
import math

from fieldwork.errors import StudyError
from fieldwork.generation.budget import NANOS, Budget, BudgetReached, Reservation, nanos_of
from fieldwork.generation.ledger import Entry, Ledger, Tier
from fieldwork.generation.pricing import Price, billed_tier, cost_usd, most_usd
from fieldwork.generation.providers.base import Provider, TransientError, Usage
from fieldwork.token_estimate import BYTES_PER_TOKEN

logger = logging.getLogger(__name__)

_MARGIN = 1.25
"""Times the largest ratio so far, what a call may be billed beyond the estimate of its tokens."""


class Account:
    """Counts what one job spends.

    Tokens of a prompt are estimated, and a model may count more. Until it has answered, a byte counts as
    a token, which no tokenizer of bytes exceeds, and live calls go one at a time. Then what it billed
    decides: the largest ratio to the estimate so far, and a margin.

    Args:
        price: None for a model without a price: then nothing is counted in dollars.
        tier: how calls are sent.
        max_tokens: longest answer, for the most a call can cost.
        budget: None where spending has no limit.

    Attributes:
        n_retries: sends beyond the first of a request.
    """

    def __init__(
        self, price: Price | None, tier: Tier, max_tokens: int, budget: Budget | None = None
    ) -> None:
        self._price, self._tier, self._max_tokens, self._budget = price, tier, max_tokens, budget
        self._input_tokens = self._cached_tokens = self._output_tokens = 0
        self._usd = 0.0
        self.n_retries = 0
        self._estimates: dict[int, int] = {}
        self._input_ratio: float | None = None
        self._output_ratio = 1.0

    def reserve(self, input_tokens: int) -> Reservation | None:
        """Set aside the most that a call can cost.

        Args:
            input_tokens: the estimate.

        Raises:
            BudgetReached: the call could exceed the budget, or the model's first answer is under way.
        """
        if self._budget is None or self._price is None:
            return None
        # a flex call may be answered, and billed, as a usual one
        tier: Tier = "batch" if self._tier == "batch" else "live"
        is_first_under_way = self._input_ratio is None and bool(self._estimates)
        if is_first_under_way and tier == "live" and self._budget.has_limit:
            raise BudgetReached(
                "budget_usd: the model's first answer says how many tokens it counts, and is under way"
            )
        reservation = self._budget.reserve(
            most_usd(*self._most_tokens(input_tokens), self._price, tier),
            # the journal of batches finds them again after any crash
            is_safe=self._tier == "batch",
        )
        self._estimates[reservation.number] = input_tokens
        return reservation

    def _most_tokens(self, input_tokens: int) -> tuple[int, int]:
        """Tokens of a prompt and of its answer that a call may be billed."""
        if self._input_ratio is None:
            return input_tokens * BYTES_PER_TOKEN, self._max_tokens
        # an answer is as long as `max_tokens` allows, unless hidden reasoning came beyond it
        output_margin = _MARGIN if self._output_ratio > 1 else 1.0
        return (
            math.ceil(input_tokens * self._input_ratio * _MARGIN),
            math.ceil(self._max_tokens * self._output_ratio * output_margin),
        )

    def _learn(self, input_tokens: int, usage: Usage) -> None:
        """Take the largest ratios so far; a reply without counts leaves a byte a token."""
        ratio = usage.input / max(input_tokens, 1) if usage.input else float(BYTES_PER_TOKEN)
        self._input_ratio = max(self._input_ratio or 0.0, ratio)
        self._output_ratio = max(self._output_ratio, (usage.output or 0) / self._max_tokens)

    def settle(
        self,
        reservation: Reservation | None,
        usage: Usage | None,
        *,
        service_tier: str | None = None,
        is_unbilled: bool = True,
    ) -> None:
        """Put what a call cost in the place of what was set aside.

        Args:
            usage: None for a call without a reply.
            service_tier: how the call was answered, in the provider's words.
            is_unbilled: whether a call without a reply certainly cost nothing. One that may have been
                billed counts with all that was set aside, and so does a reply without token counts.
        """
        usd: float | None = 0.0 if is_unbilled else None
        if usage is not None:
            self._input_tokens += usage.input or 0
            self._cached_tokens += usage.cache_read or 0
            self._output_tokens += usage.output or 0
            tier = billed_tier(self._tier, service_tier)
            usd = cost_usd(usage, self._price, tier) if self._price is not None else None
            self._usd += usd or 0.0
        if self._budget is not None and reservation is not None:
            estimate = self._estimates.pop(reservation.number, 0)
            if usage is not None and estimate:
                self._learn(estimate, usage)
            self._budget.settle(reservation, usd)

    @property
    def usd(self) -> float | None:
        """US dollars spent so far; None for a model without a price."""
        return self._usd if self._price is not None else None

    def note(self) -> str:
        """Cost, tokens, cache-hit share and retries, in a few words; empty before any usage."""
        n_tokens = self._input_tokens + self._output_tokens
        if not n_tokens + self.n_retries:
            return ""
        parts = [f"${self._usd:.2f}"] if self._price is not None else []
        parts.append(f"{n_tokens / 1e6:.2f} M tokens")
        if self._input_tokens:
            parts.append(f"{self._cached_tokens / self._input_tokens:.0%} cached")
        parts.append(f"{self.n_retries} retries")
        return ", ".join(parts)


def free_leftovers(budget: Budget, ledger: Ledger, provider: Provider, price: Price) -> None:
    """Give back what dead jobs of this ledger set aside and did not spend, where that is known.

    To be called when no batch of the ledger is under way: its answers are on no bill yet.

    Raises:
        StudyError: the disk refuses.
    """
    if not budget.has_leftovers():
        return
    bill = bill_usd(ledger, provider, price)
    if bill is None:
        logger.info(
            "budget: money that earlier, stopped jobs had set aside stays counted as spent, because the "
            "cost of some answers is not known"
        )
    elif budget.reconcile(bill):
        logger.info(
            "budget: money that earlier, stopped jobs had set aside and not spent is available again"
        )
    else:
        logger.info(
            "budget: money that earlier, stopped jobs had set aside stays counted as spent, because "
            "another job is running or the ledger's answers cost less than was counted"
        )


def bill_usd(ledger: Ledger, provider: Provider, price: Price) -> float | None:
    """What all answers of a ledger cost, each at its own tier, quarantined ones included.

    Returns:
        US dollars, each answer rounded up as the budget rounds it. None where the cost of an answer is
        not known: it is damaged, has no token counts, or came from another endpoint, which may have
        another price.
    """
    total = 0
    for keys, look_up in (
        (ledger.keys("answers"), ledger.entries),
        (ledger.keys("quarantined"), ledger.quarantined_entries),
    ):
        costs = [_cost(entry, provider, price) for entry in look_up(keys)]
        certain_costs = [usd for usd in costs if usd is not None]
        if len(certain_costs) < len(keys):
            return None
        total += sum(map(nanos_of, certain_costs))
    return None if ledger.keys("damaged") else total / NANOS


def _cost(entry: Entry, provider: Provider, price: Price) -> float | None:
    if entry.endpoint != provider.endpoint:
        return None
    try:
        reply = provider.read(entry.raw)
    except (TransientError, StudyError):
        return None
    return cost_usd(reply.usage, price, billed_tier(entry.tier, reply.service_tier))
