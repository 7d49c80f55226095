"""The plan as one page of HTML that needs nothing else: totals, rows, and what they rest on."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from fieldwork.generation.planning.loads import CACHE_STEP, NOTHING_OBSERVED, ObservedTokens
from fieldwork.generation.pricing import Price
from fieldwork.records.generation import PlanRow
from fieldwork.token_estimate import BYTES_PER_TOKEN, TOKENS_PER_MESSAGE


class StudyPlan(NamedTuple):
    """What a study will send, and what to know of it.

    Attributes:
        warnings: sentences a reader must see before spending.
        assumptions: sentences that say how the numbers are made.
        recorded_models: models that are not asked, by name.
    """

    rows: Sequence[PlanRow]
    warnings: Sequence[str]
    assumptions: Sequence[str]
    recorded_models: Sequence[str] = ()


def render(plan: StudyPlan, *, name: str, budget_usd: float | None) -> str:
    """The whole page.

    Args:
        name: of the study.
        budget_usd: None for no limit.
    """
    chosen_rows = [row for row in plan.rows if row.is_chosen]
    parts = [
        f"<h1>Plan of the study {escape(name)}</h1>",
        f"<p>{_summary(chosen_rows, budget_usd)}</p>",
        *(f"<p>{escape(name)} is recorded: nothing is sent.</p>" for name in plan.recorded_models),
        *(f'<p class="warning">{escape(text)}</p>' for text in plan.warnings),
        *(_plan_sections(plan, chosen_rows) if plan.rows else ()),
    ]
    style = f"<style>{_STYLE}</style>"
    title = f"<title>Plan: {escape(name)}</title>"
    head = f'<meta charset="utf-8">{title}{style}'
    return (
        f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'
    )


def _plan_sections(plan: StudyPlan, chosen_rows: Sequence[PlanRow]) -> list[str]:
    return [
        "<h2>Totals, by model and dispatch</h2>",
        "<p>The dispatch is how requests are sent. The config chooses the marked one.</p>",
        _totals_table(plan.rows),
        "<h2>By task and condition, with the chosen dispatch</h2>",
        "<p>The file plan.csv beside this page has all columns, for every dispatch.</p>",
        *(_model_section(rows) for rows in _groups(chosen_rows).values()),
        "<h2>How these numbers are made</h2>",
        "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in plan.assumptions) + "</ul>",
    ]


def warnings_of(models: Mapping[str, Mapping[str, Any]], rows: Sequence[PlanRow]) -> list[str]:
    """What a reader must know before spending: shutdowns, and models without a price."""
    warnings = []
    for name, model in models.items():
        if model.get("shutdown"):
            successors = ", ".join(model["successors"])
            replacement = f" Successors: {successors}." if successors else ""
            warnings.append(
                f"{name} ({model['model']}) is shut down on {model['shutdown']}.{replacement}"
            )
        if n := model.get("first_token_sample"):
            calls = "one call" if n == 1 else f"{n} calls"
            warnings.append(
                f"{name}: {calls} of each task and condition will be sent and paid once more, "
                f"as streams (models.{name}.first_token_sample)."
            )
        reasons = {(row.cost_most_usd is None, row.reason) for row in rows if row.model == name}
        for has_no_cost, reason in sorted((has_no, text) for has_no, text in reasons if text):
            warnings.append(
                f"{name} has no cost: {reason}." if has_no_cost else f"{name}: {reason}."
            )
    return warnings


def assumptions_of(
    settings: Mapping[str, Any],
    observed_tokens: Mapping[str, ObservedTokens],
    rows: Sequence[PlanRow],
    prices: Mapping[str, Price],
) -> list[str]:
    """How the numbers are made, and what the words of the tables mean.

    Args:
        settings: section `plan` of the config.
        observed_tokens: by model.
        prices: of the models that have one, by model.
    """
    sentences = [*_price_sentences(prices), *_BOUNDS, *_CACHE]
    sentences.append(_TIME.format(latency_s=settings["latency_s"]))
    if any(row.basis != "tables" for row in rows):
        sentences.append(
            f"Rows that are not counted from tables assume {settings['conversation_tokens']} tokens for "
            f"a conversation and {settings['profile_tokens']} for a profile. Where the items are not on "
            f"this machine either, a question has {settings['question_tokens']} tokens, unless "
            f"plan.tasks says otherwise. To count from the real tables, set plan.tables to build: this "
            f"downloads them."
        )
    sentences += [
        f"{model}: its answers so far show {tokens.tokens_per_byte:.4f} tokens for a byte of input, and "
        f"the mean length of an answer to each task they belong to."
        for model, tokens in observed_tokens.items()
        if tokens != NOTHING_OBSERVED
    ]
    new_models = [name for name, tokens in observed_tokens.items() if tokens == NOTHING_OBSERVED]
    if new_models:
        sentences.append(
            f"{', '.join(new_models)}: {BYTES_PER_TOKEN} bytes of input count as one token, and each "
            f"message as {TOKENS_PER_MESSAGE} more. An answer is assumed to have "
            f"{settings['list_tokens']} tokens for a list item and {settings['choice_tokens']} for a "
            f"choice item. Hidden reasoning is left out until the model has answered something."
        )
    sentences.append(_ANSWERED_ALREADY)
    return sentences


def _price_sentences(prices: Mapping[str, Price]) -> Iterator[str]:
    """What each model is taken to cost, when and where that was read."""
    for model, price in prices.items():
        yield (
            f"{model}: a million tokens cost {_usd(price.input)} as input and {_usd(price.output)} as "
            f"output, as of {price.as_of}. Source: {price.source}."
        )


def _summary(chosen_rows: Sequence[PlanRow], budget_usd: float | None) -> str:
    n_answered = sum(row.n_answered for row in chosen_rows)
    n_left = sum(row.n_requests for row in chosen_rows) - n_answered
    sentences = [
        f"{n_left:,} requests are left to send, and {n_answered:,} are answered already.",
        _cost_sentences(chosen_rows),
        "No budget is set" if budget_usd is None else f"The budget is {_usd(budget_usd)}",
    ]
    return f"{' '.join(sentences)} (generation.budget_usd)."


def _cost_sentences(chosen_rows: Sequence[PlanRow]) -> str:
    if not chosen_rows:
        return "Nothing is sent, so nothing is spent."
    priced_rows = [row for row in chosen_rows if row.cost_expected_usd is not None]
    if not priced_rows:
        return "The cost is unknown, as no model has a price."
    expected_cost = _usd(_sum(row.cost_expected_usd for row in priced_rows))
    highest_cost = _usd(_sum(row.cost_most_usd for row in priced_rows))
    sentence = f"The expected cost is {expected_cost}, and the highest is {highest_cost}."
    is_partial = len(priced_rows) < len(chosen_rows)
    return f"{sentence} Models without a price are left out." if is_partial else sentence


class _PlanCell(NamedTuple):
    text: str
    is_number: bool = True


def _totals_table(rows: Sequence[PlanRow]) -> str:
    groups = _groups(rows).values()
    lines = [_total_cells(group) for group in groups]
    return _table(lines, [group[0].is_chosen for group in groups])


def _groups(rows: Sequence[PlanRow]) -> dict[tuple[str, str], list[PlanRow]]:
    """The rows of each model and dispatch."""
    groups: dict[tuple[str, str], list[PlanRow]] = defaultdict(list)
    for row in rows:
        groups[row.model, row.dispatch].append(row)
    return groups


def _total_cells(rows: Sequence[PlanRow]) -> dict[str, _PlanCell]:
    """A line of the totals: the rows of one model and dispatch, added up."""
    return {
        "Model": _words(rows[0].model),
        "Dispatch": _words(rows[0].dispatch),
        "Chosen": _words("yes" if rows[0].is_chosen else ""),
        "Requests to send": _count(sum(row.n_requests - row.n_answered for row in rows)),
        "Input tokens": _count(sum(row.prefix_tokens + row.question_tokens for row in rows)),
        "Output tokens": _count(sum(row.output_tokens for row in rows)),
        "Time": _PlanCell(_time(_sum(row.minutes for row in rows))),
        "Cost without cache": _dollars(_sum(row.cost_no_cache_usd for row in rows)),
        "Expected cost": _dollars(_sum(row.cost_expected_usd for row in rows)),
        "Ideal cost": _dollars(_sum(row.cost_ideal_usd for row in rows)),
        "Highest cost": _dollars(_sum(row.cost_most_usd for row in rows)),
    }


def _model_section(rows: Sequence[PlanRow]) -> str:
    """The rows of one model and dispatch."""
    table = _table([_arm_cells(row) for row in rows], [False] * len(rows))
    return f"<h3>{escape(rows[0].model)}, {rows[0].dispatch}</h3>{table}"


def _arm_cells(row: PlanRow) -> dict[str, _PlanCell]:
    """A row of the plan, as narrow as a page needs it."""
    return {
        "Task": _words(row.task),
        "Condition": _words(row.condition),
        "Requests": _count(row.n_requests),
        "Answered already": _count(row.n_answered),
        "Contexts": _count(row.n_contexts),
        "Input tokens": _count(row.prefix_tokens + row.question_tokens),
        "Of these cached": _count(row.cached_tokens),
        "Output tokens": _count(row.output_tokens),
        "Time": _PlanCell(_time(row.minutes)),
        "Limited by": _words(row.limited_by),
        "Expected cost": _dollars(row.cost_expected_usd),
        "Highest cost": _dollars(row.cost_most_usd),
        "Counted from": _words(row.basis),
    }


def _words(text: str) -> _PlanCell:
    return _PlanCell(escape(text), is_number=False)


def _count(n: int) -> _PlanCell:
    return _PlanCell(f"{n:,}")


def _dollars(usd: float | None) -> _PlanCell:
    return _PlanCell(_usd(usd))


def _sum(values: Iterable[float | None]) -> float | None:
    """None where any of the values is."""
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total


_BOUNDS = (
    "Costs are in US dollars. The cost without cache charges the full price for all input.",
    "The expected cost follows the order in which the requests are sent, and the cache rules below.",
    "The ideal cost reads every repeated token from the cache.",
    "The highest cost uses no cache, and every answer is as long as max_tokens allows.",
)
_CACHE = (
    f"Prompt cache: the first question after a context writes the cache, and the others read it. They "
    f"read in steps of {CACHE_STEP} tokens, from prefix_cache.min_tokens on. At most "
    f"prefix_cache.requests_per_minute questions after one context are sent in a minute.",
    "Nothing is expected from a cache in batches, or from Gemini without explicit_cache.",
    "With explicit_cache, each context is billed once as input, and then stored for cache_ttl_s. Storage "
    "costs prices.*.cache_storage for a million tokens and an hour. The expected, ideal and highest "
    "costs include both; budget_usd and cost.csv do not.",
)
_TIME = (
    "The time is what the tightest limit alone takes, at {latency_s:g} s a call. Limits that the config "
    "does not set (requests_per_minute, tokens_per_minute) do not count. Calls that must be sent again "
    "take longer."
)
_ANSWERED_ALREADY = (
    "A request is answered already if the ledger (resources/ledger) holds the answer to exactly the call "
    "that would be sent, even if the job did not finish. For a model without a ledger, the study's "
    "tables of responses decide."
)


def _table(lines: Sequence[Mapping[str, _PlanCell]], marks: Sequence[bool]) -> str:
    """A table of HTML.

    Args:
        lines: title of the column → cell; all have the same titles.
        marks: whether each line stands out.
    """
    head = "".join(
        f'<th class="n">{title}</th>' if cell.is_number else f"<th>{title}</th>"
        for title, cell in lines[0].items()
    )
    body = "".join(
        f"<tr{' class=chosen' if is_marked else ''}>{''.join(map(_td, line.values()))}</tr>"
        for line, is_marked in zip(lines, marks, strict=True)
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    # a narrow window scrolls the table, not the page
    return f'<div class="wide">{table}</div>'


def _td(cell: _PlanCell) -> str:
    return f'<td class="n">{cell.text}</td>' if cell.is_number else f"<td>{cell.text}</td>"


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
    "ul{max-width:60rem}.warning{border-left:4px solid #c05000;padding-left:.6rem}"
)
