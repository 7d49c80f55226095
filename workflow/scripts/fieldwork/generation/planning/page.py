"""The plan as one page of HTML that needs nothing else: totals, rows, and what they rest on."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from fieldwork.generation.planning.loads import Learnt
from fieldwork.records.generation import PlanRow
from fieldwork.token_estimate import TOKENS_PER_BYTE


class Facts(NamedTuple):
    """What the page says besides the rows.

    Attributes:
        budget_usd: None for no limit.
        warnings: sentences a reader must see before spending.
        assumptions: sentences that say what was assumed.
    """

    study: str
    budget_usd: float | None
    warnings: Sequence[str]
    assumptions: Sequence[str]


def render(rows: Sequence[PlanRow], facts: Facts) -> str:
    """The whole page."""
    chosen = [row for row in rows if row.is_chosen]
    parts = [
        f"<h1>Plan of the study {escape(facts.study)}</h1>",
        f"<p>{_summary(chosen, facts.budget_usd)}</p>",
        *(f'<p class="warning">{escape(text)}</p>' for text in facts.warnings),
        "<h2>By model and dispatch</h2>",
        _table(_TOTALS, _totals(rows)),
        "<h2>By task and condition, as the config dispatches them</h2>",
        "<p>Every column, of every dispatch, is in plan.csv beside this page.</p>",
        *(_of_model(name, chosen) for name in dict.fromkeys(row.model for row in chosen)),
        "<h2>What these numbers rest on</h2>",
        "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in facts.assumptions) + "</ul>",
    ]
    style = f"<style>{_STYLE}</style>"
    title = f"<title>Plan: {escape(facts.study)}</title>"
    head = f'<meta charset="utf-8">{title}{style}'
    return (
        f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'
    )


def warnings_of(models: Mapping[str, Mapping[str, Any]], rows: Sequence[PlanRow]) -> list[str]:
    """What a reader must know before spending: shutdowns, and models without a price."""
    found = []
    for name, model in models.items():
        if model.get("shutdown"):
            named = ", ".join(model["successors"])
            instead = f"; successors: {named}" if named else ""
            found.append(f"{name} ({model['model']}) is shut down on {model['shutdown']}{instead}.")
        own = [row for row in rows if row.model == name and row.reason]
        found += [
            f"{name} has no cost here: {reason}."
            for reason in sorted({row.reason or "" for row in own if row.cost_most_usd is None})
        ]
        found += [
            f"{name}: {reason}."
            for reason in sorted({row.reason or "" for row in own if row.cost_most_usd is not None})
        ]
    return found


def assumptions_of(
    assumed: Mapping[str, Any], learnt: Mapping[str, Learnt], rows: Sequence[PlanRow]
) -> list[str]:
    """What was assumed, and what the words of the tables mean."""
    found = [_BOUNDS, _CACHE, _TIME.format(latency_s=assumed["latency_s"])]
    if any(row.basis != "tables" for row in rows):
        found.append(
            f"Rows not counted from tables assume {assumed['conversation_tokens']} tokens a conversation "
            f"and {assumed['profile_tokens']} a profile; where items are not on this machine either, "
            f"{assumed['question_tokens']} tokens a question unless plan.tasks says otherwise. Set "
            f"plan.tables to build to count from the real tables (this downloads them)."
        )
    for model, known in learnt.items():
        if known.tokens_per_byte != TOKENS_PER_BYTE or known.output_tokens:
            found.append(
                f"{model}: {known.tokens_per_byte:.4f} tokens a byte and the length of answers are "
                f"learnt from its answers so far: billed input tokens over estimated ones, and the mean "
                f"output of a task's answers."
            )
        else:
            found.append(
                f"{model}: tokens are bytes / 4 and 4 a message; an answer to a list item is taken for "
                f"{assumed['list_tokens']} tokens and to a choice item for {assumed['choice_tokens']}, "
                f"hidden reasoning not included, until answers show it."
            )
    found.append(_ANSWERED)
    return found


def _summary(chosen: Sequence[PlanRow], budget_usd: float | None) -> str:
    left = sum(row.n_requests - row.n_answered for row in chosen)
    answered = sum(row.n_answered for row in chosen)
    known = [row for row in chosen if row.cost_expected_usd is not None]
    words = f"{left:,} requests to send, {answered:,} answered already. "
    words += f"Expected cost {_usd(_sum(known, _expected))}, at most {_usd(_sum(known, _most))}"
    if len(known) < len(chosen):
        words += ", models without a price left out"
    limit = "no budget is set" if budget_usd is None else f"the budget is {_usd(budget_usd)}"
    return f"{words}; {limit} (generation.budget_usd)."


class _Total(NamedTuple):
    model: str
    dispatch: str
    is_chosen: bool
    requests: int
    input_tokens: int
    output_tokens: int
    minutes: float | None
    no_cache: float | None
    expected: float | None
    ideal: float | None
    most: float | None


def _totals(rows: Sequence[PlanRow]) -> list[_Total]:
    keys = dict.fromkeys((row.model, row.dispatch) for row in rows)
    found = []
    for model, dispatch in keys:
        own = [row for row in rows if (row.model, row.dispatch) == (model, dispatch)]
        found.append(
            _Total(
                model,
                dispatch,
                own[0].is_chosen,
                sum(row.n_requests - row.n_answered for row in own),
                sum(row.prefix_tokens + row.question_tokens for row in own),
                sum(row.output_tokens for row in own),
                _sum(own, _minutes),
                _sum(own, _no_cache),
                _sum(own, _expected),
                _sum(own, _ideal),
                _sum(own, _most),
            )
        )
    return found


class _Line(NamedTuple):
    """A row of the plan, as narrow as a page needs it."""

    task: str
    condition: str
    requests: int
    answered: int
    contexts: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    minutes: float | None
    limited_by: str
    expected: float | None
    most: float | None
    basis: str
    is_chosen: bool = False  # all of them are: nothing to mark


def _of_model(model: str, chosen: Sequence[PlanRow]) -> str:
    lines = [
        _Line(
            row.task,
            row.condition,
            row.n_requests,
            row.n_answered,
            row.n_contexts,
            row.prefix_tokens + row.question_tokens,
            row.cached_tokens,
            row.output_tokens,
            row.minutes,
            row.limited_by,
            row.cost_expected_usd,
            row.cost_most_usd,
            row.basis,
        )
        for row in chosen
        if row.model == model
    ]
    dispatch = next(row.dispatch for row in chosen if row.model == model)
    return f"<h3>{escape(model)}, {dispatch}</h3>{_table(_LINES, lines)}"


def _sum(rows: Iterable[PlanRow], value: Callable[[PlanRow], float | None]) -> float | None:
    values = [value(row) for row in rows]
    known = [v for v in values if v is not None]
    return sum(known) if len(known) == len(values) else None


def _minutes(row: PlanRow) -> float | None:
    return row.minutes


def _no_cache(row: PlanRow) -> float | None:
    return row.cost_no_cache_usd


def _expected(row: PlanRow) -> float | None:
    return row.cost_expected_usd


def _ideal(row: PlanRow) -> float | None:
    return row.cost_ideal_usd


def _most(row: PlanRow) -> float | None:
    return row.cost_most_usd


_BOUNDS = (
    "Costs are in US dollars, in three bounds: without any cache; expected, in the order in which the "
    "requests are sent; and ideal, with every repeated token read from the cache. At most: no cache and "
    "every answer as long as max_tokens allows."
)
_CACHE = (
    "Expected: the first question after a context writes the cache, the others read it in steps of 128 "
    "tokens from prefix_cache.min_tokens on, no more than prefix_cache.requests_per_minute of them a "
    "minute. Nothing is expected of a cache in batches, nor of Gemini without explicit_cache. With it, "
    "each context is billed once as input and stored for cache_ttl_s, at prices.*.cache_storage a "
    "million tokens and hour: expected, ideal and at most count both; budget_usd and cost.csv do not."
)
_TIME = (
    "Time is that of the tightest limit alone, at {latency_s:g} s a call; limits that are not in the "
    "config (requests_per_minute, tokens_per_minute) do not count. A retried call takes longer."
)
_ANSWERED = (
    "Answered requests are those the ledger (resources/ledger) holds an answer to under the very call "
    "that would be sent, whether their job finished or not; without a ledger, those in the study's "
    "tables of responses."
)
_TOTALS = {
    "model": "Model",
    "dispatch": "Dispatch",
    "is_chosen": "Chosen",
    "requests": "Requests",
    "input_tokens": "Input tokens",
    "output_tokens": "Output tokens",
    "minutes": "Time",
    "no_cache": "No cache",
    "expected": "Expected",
    "ideal": "Ideal",
    "most": "At most",
}
_LINES = {
    "task": "Task",
    "condition": "Condition",
    "requests": "Requests",
    "answered": "Answered",
    "contexts": "Contexts",
    "input_tokens": "Input tokens",
    "cached_tokens": "of these cached",
    "output_tokens": "Output tokens",
    "minutes": "Time",
    "limited_by": "Limited by",
    "expected": "Expected",
    "most": "At most",
    "basis": "Counted from",
}
_DOLLARS = frozenset({"no_cache", "expected", "ideal", "most"})
_TEXTS = frozenset({"model", "dispatch", "is_chosen", "task", "condition", "limited_by", "basis"})


def _table(columns: Mapping[str, str], rows: Sequence[Any]) -> str:
    head = "".join(
        f"<th>{escape(title)}</th>" if name in _TEXTS else f'<th class="n">{escape(title)}</th>'
        for name, title in columns.items()
    )
    lines = []
    for row in rows:
        cells = "".join(_cell(name, getattr(row, name)) for name in columns)
        lines.append(f"<tr{' class=chosen' if row.is_chosen else ''}>{cells}</tr>")
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    # a narrow window scrolls the table, not the page
    return f'<div class="wide">{table}</div>'


def _cell(name: str, value: Any) -> str:
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    if isinstance(value, bool):
        return f"<td>{'yes' if value else ''}</td>"
    if name in _DOLLARS:
        text = _usd(value)
    elif name == "minutes":
        text = _time(value)
    else:
        text = f"{value:,}"
    return f'<td class="n">{text}</td>'


def _usd(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"${value:,.2f}" if value >= 0.1 or value == 0 else f"${value:.4f}"


def _time(minutes: float | None) -> str:
    if minutes is None:
        return "up to 24 h"
    return f"{minutes:.1f} min" if minutes < 90 else f"{minutes / 60:,.1f} h"


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:90rem;padding:0 1rem;"
    "color:#1a1a1a;background:#fff}.wide{overflow-x:auto}table{border-collapse:collapse;font-size:14px}"
    "th,td{padding:.2rem .5rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}"
    "th{vertical-align:bottom;line-height:1.2}th.n,td.n{text-align:right}"
    "td.n{font-variant-numeric:tabular-nums;white-space:nowrap}tr.chosen{background:#f3f7ff}"
    ".warning{border-left:4px solid #c05000;padding-left:.6rem}"
)
