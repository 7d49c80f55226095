"""What answers cost, added up from usage as returned, beside what the plan expected of them.

A call that two conditions share was billed once: it is counted where it first appears. Where some answers
have no cost, the sum is over the others, and the row says how many are left out. Calls that were sent
once more as streams are rows of their own.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

import pandas as pd

from fieldwork import tables
from fieldwork.generation.first_tokens import STREAM
from fieldwork.records.generation import CostRow, Response
from fieldwork.records.service import FirstToken

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


class PlannedCalls(NamedTuple):
    """The calls of a model, task and condition: the usual ones, or those sent once more as streams."""

    model: str
    task: str
    condition: str
    is_stream: bool = False


_ARM = ("model", "task", "condition")
_TOKENS = [name for name in BilledAnswer._fields if name.endswith("_tokens")]
_NUMBERS = [*_TOKENS, "cost_usd"]


def read_bills(paths: Sequence[str]) -> Iterator[BilledAnswer]:
    """The answers of tables of responses."""
    for path in paths:
        for row in tables.read_columns(path, Response, BilledAnswer._fields):
            yield BilledAnswer(*row)


def read_stream_bills(paths: Sequence[str]) -> Iterator[BilledAnswer]:
    """The calls of tables of first tokens."""
    columns = ("ledger_key", "input_tokens", "cached_tokens", "output_tokens", "cost_usd")
    for path in paths:
        for row in tables.read_columns(path, FirstToken, [*_ARM, *columns]):
            model, task, condition, key, n_input, n_cached, n_output, usd = row
            yield BilledAnswer(
                *(
                    model,
                    task,
                    condition,
                    key,
                    STREAM,
                    n_input,
                    n_cached,
                    None,
                    n_output,
                    None,
                    usd,
                ),
                price_as_of=None,
            )


def cost_rows(
    answers: Iterable[BilledAnswer],
    planned_usd: Mapping[PlannedCalls, float | None],
    models_with_storage: Collection[str] = (),
) -> list[CostRow]:
    """One row a model, task, condition and dispatch, in the order in which they first appear.

    Args:
        planned_usd: expected cost of all calls; of the usual ones a dispatch gets its share by answers.
        models_with_storage: models that store contexts with their provider: no answer tells what that
            cost.
    """
    frame = pd.DataFrame(answers, columns=list(BilledAnswer._fields))
    frame[_NUMBERS] = frame[_NUMBERS].apply(pd.to_numeric)
    # priced so too: a server that counts more than it was sent is not believed
    frame["cached_tokens"] = frame[["cached_tokens", "input_tokens"]].fillna(0).min(axis=1)
    frame["is_shared"] = frame.duplicated(["model", "ledger_key"])
    n_calls = frame.groupby([*_ARM, frame["dispatch"] == STREAM]).size()
    rows = []
    for key, part in frame.groupby([*_ARM, "dispatch"], sort=False):
        model, task, condition, dispatch = cast("tuple[str, str, str, str]", key)
        bill = part[~part["is_shared"]]
        tokens = {str(name): int(n) for name, n in bill[_TOKENS].sum().items()}
        n_without_cost = int(bill["cost_usd"].isna().sum())
        # exact, so that the order of the answers cannot move the last bits
        cost = math.fsum(bill["cost_usd"].dropna())
        usd = None if len(bill) and n_without_cost == len(bill) else cost
        calls = PlannedCalls(model, task, condition, is_stream=dispatch == STREAM)
        plan_usd = planned_usd.get(calls)
        if plan_usd is not None:
            plan_usd *= len(part) / int(n_calls[calls])
        n_input = tokens["input_tokens"]
        share = tokens["cached_tokens"] / n_input if n_input else None
        note = STORAGE_LEFT_OUT if model in models_with_storage else None
        rows.append(
            CostRow(
                model=model,
                task=task,
                condition=condition,
                dispatch=dispatch,
                n_answers=len(part),
                n_shared=len(part) - len(bill),
                **tokens,
                cached_share=share,
                cost_usd=usd,
                price_as_of=max(bill["price_as_of"].dropna(), default=None),
                planned_usd=plan_usd,
                difference_usd=None if usd is None or plan_usd is None else usd - plan_usd,
                reason="; ".join(filter(None, (_reason(n_without_cost, len(bill)), note))) or None,
            )
        )
    return rows


def _reason(n_without_cost: int, n_billed: int) -> str | None:
    if not n_without_cost:
        return None
    if n_without_cost == n_billed:
        return "no answer has a cost: prices has no entry for the model, or it returned no usage"
    return f"{n_without_cost} of {n_billed} answers have no cost, as no usage came with them"
