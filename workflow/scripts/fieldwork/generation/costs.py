"""What answers cost, added up from usage as returned, beside what the plan expected of them.

A call that two conditions share was billed once: it is counted where it first appears. Where some answers
have no cost, the sum is over the others, and the row says how many are left out.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fieldwork.records.generation import CostRow

STORAGE_LEFT_OUT = (
    "making and storing explicit caches is billed apart: it is in planned_usd, not in cost_usd"
)


class BilledAnswer(NamedTuple):
    """The columns of a response that say what it cost, in the order of the fields."""

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
class _ArmBill:
    """The answers of one arm and dispatch, added up."""

    n_answers: int = 0
    n_shared: int = 0
    n_without_cost: int = 0
    tokens: list[int] = field(default_factory=lambda: [0] * 5)
    usd: list[float] = field(default_factory=list)
    price_as_of: str | None = None

    def add(self, answer: BilledAnswer) -> None:
        counts = (
            answer.input_tokens,
            # priced so too: a server that counts more than it was sent is not believed
            min(answer.cached_tokens or 0, answer.input_tokens or 0),
            answer.cache_write_tokens,
            answer.output_tokens,
            answer.reasoning_tokens,
        )
        self.tokens = [total + (n or 0) for total, n in zip(self.tokens, counts, strict=True)]
        if answer.cost_usd is None:
            self.n_without_cost += 1
        else:
            self.usd.append(answer.cost_usd)
        self.price_as_of = max(filter(None, (self.price_as_of, answer.price_as_of)), default=None)


def cost_rows(
    answers: Iterable[BilledAnswer],
    planned_usd: Mapping[ArmKey, float | None],
    models_with_storage: Collection[str] = (),
) -> list[CostRow]:
    """One row a model, task, condition and dispatch, in the order in which they first appear.

    Args:
        planned_usd: expected cost of all answers of an arm; a dispatch gets its share by answers.
        models_with_storage: models that store contexts with their provider: no answer tells what that
            cost.
    """
    bills: dict[tuple[ArmKey, str], _ArmBill] = {}
    counted_keys: set[tuple[str, str]] = set()
    for answer in answers:
        arm = (answer.model, answer.task, answer.condition)
        bill = bills.setdefault((arm, answer.dispatch), _ArmBill())
        bill.n_answers += 1
        if (answer.model, answer.ledger_key) in counted_keys:
            bill.n_shared += 1
        else:
            counted_keys.add((answer.model, answer.ledger_key))
            bill.add(answer)
    n_answers: Counter[ArmKey] = Counter()
    for (arm, _), bill in bills.items():
        n_answers[arm] += bill.n_answers
    rows = []
    for (arm, dispatch), bill in bills.items():
        arm_usd = planned_usd.get(arm)
        share = None if arm_usd is None else arm_usd * bill.n_answers / n_answers[arm]
        note = STORAGE_LEFT_OUT if arm[0] in models_with_storage else None
        rows.append(_row(arm, dispatch, bill, share, note))
    return rows


def _row(
    arm: ArmKey, dispatch: str, bill: _ArmBill, planned_usd: float | None, note: str | None
) -> CostRow:
    n_input, n_cached, n_cache_write, n_output, n_reasoning = bill.tokens
    n_billed = bill.n_answers - bill.n_shared
    # exact, so that the order of the answers cannot move the last bits
    cost = math.fsum(bill.usd) if bill.usd or not n_billed else None
    return CostRow(
        model=arm[0],
        task=arm[1],
        condition=arm[2],
        dispatch=dispatch,
        n_answers=bill.n_answers,
        n_shared=bill.n_shared,
        input_tokens=n_input,
        cached_tokens=n_cached,
        cache_write_tokens=n_cache_write,
        output_tokens=n_output,
        reasoning_tokens=n_reasoning,
        cached_share=n_cached / n_input if n_input else None,
        cost_usd=cost,
        price_as_of=bill.price_as_of,
        planned_usd=planned_usd,
        difference_usd=None if cost is None or planned_usd is None else cost - planned_usd,
        reason="; ".join(filter(None, (_reason(bill.n_without_cost, n_billed), note))) or None,
    )


def _reason(n_without_cost: int, n_billed: int) -> str | None:
    if not n_without_cost:
        return None
    if n_without_cost == n_billed:
        return "no answer has a cost: prices has no entry for the model, or it returned no usage"
    return f"{n_without_cost} of {n_billed} answers have no cost, as no usage came with them"
