"""What answers cost, added up from usage as returned, beside what the plan expected of them.

A call that two conditions share was billed once: it is counted where it first appears. A sum over
answers of which some have no cost is what is known of it, and the row says how many are left out.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fieldwork.records.generation import CostRow

STORED = (
    "explicit caches are billed apart: making and storing them is in planned_usd, not in cost_usd"
)


class Billed(NamedTuple):
    """The columns of a response that say what it cost, in the order of `Billed._fields`."""

    model: str
    task: str
    condition: str
    ledger_key: str
    dispatch: str
    input_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: float | None
    price_as_of: str | None


ArmKey = tuple[str, str, str]


@dataclass
class _Sum:
    n_answers: int = 0
    n_shared: int = 0
    n_without_cost: int = 0
    tokens: list[int] = field(default_factory=lambda: [0] * 5)
    usd: list[float] = field(default_factory=list)
    price_as_of: str | None = None

    def add(self, billed: Billed) -> None:
        counts = (
            billed.input_tokens,
            # priced so too: a server that counts more than it was sent is not believed
            min(billed.cached_tokens or 0, billed.input_tokens or 0),
            billed.cache_write_tokens,
            billed.output_tokens,
            billed.reasoning_tokens,
        )
        self.tokens = [total + (n or 0) for total, n in zip(self.tokens, counts, strict=True)]
        if billed.cost_usd is None:
            self.n_without_cost += 1
        else:
            self.usd.append(billed.cost_usd)
        self.price_as_of = max(filter(None, (self.price_as_of, billed.price_as_of)), default=None)


def cost_rows(
    answers: Iterable[Billed],
    planned: Mapping[ArmKey, float | None],
    storing: Collection[str] = (),
) -> list[CostRow]:
    """One row a model, task, condition and dispatch, in the order in which they first appear.

    Args:
        planned: expected cost of all answers of an arm; a dispatch gets its share by answers.
        storing: models that leave contexts with their provider: no answer tells what that cost.
    """
    sums: dict[tuple[ArmKey, str], _Sum] = {}
    seen: set[tuple[str, str]] = set()
    for billed in answers:
        arm = (billed.model, billed.task, billed.condition)
        found = sums.setdefault((arm, billed.dispatch), _Sum())
        found.n_answers += 1
        if (billed.model, billed.ledger_key) in seen:
            found.n_shared += 1
        else:
            seen.add((billed.model, billed.ledger_key))
            found.add(billed)
    n_answers: dict[ArmKey, int] = {}
    for (arm, _), found in sums.items():
        n_answers[arm] = n_answers.get(arm, 0) + found.n_answers
    rows = []
    for (arm, dispatch), found in sums.items():
        whole = planned.get(arm)
        share = None if whole is None else whole * found.n_answers / n_answers[arm]
        rows.append(_row(arm, dispatch, found, share, STORED if arm[0] in storing else None))
    return rows


def _row(
    arm: ArmKey, dispatch: str, found: _Sum, planned: float | None, left_out: str | None
) -> CostRow:
    n_input, cached, cache_write, output, reasoning = found.tokens
    n_billed = found.n_answers - found.n_shared
    # exact, so that the order of the answers cannot move the last bits
    cost = math.fsum(found.usd) if found.usd or not n_billed else None
    return CostRow(
        model=arm[0],
        task=arm[1],
        condition=arm[2],
        dispatch=dispatch,
        n_answers=found.n_answers,
        n_shared=found.n_shared,
        input_tokens=n_input,
        cached_tokens=cached,
        cache_write_tokens=cache_write,
        output_tokens=output,
        reasoning_tokens=reasoning,
        cached_share=cached / n_input if n_input else None,
        cost_usd=cost,
        price_as_of=found.price_as_of,
        planned_usd=planned,
        difference_usd=None if cost is None or planned is None else cost - planned,
        reason="; ".join(filter(None, (_reason(found.n_without_cost, n_billed), left_out))) or None,
    )


def _reason(n_without_cost: int, n_billed: int) -> str | None:
    if not n_without_cost:
        return None
    if n_without_cost == n_billed:
        return "no answer has a cost: there is no price for the model, or it returned no usage"
    return f"{n_without_cost} of {n_billed} answers have no cost: no usage came with them"
