"""The plan of a study: every arm of every model, and what the answers of an arm should cost."""

from collections.abc import Iterator
from typing import Any

from fieldwork.generation.costs import PlannedCalls
from fieldwork.generation.first_tokens import stream_settings
from fieldwork.generation.planning.ledger import ledger_answers
from fieldwork.generation.planning.loads import NOTHING_OBSERVED, ObservedTokens
from fieldwork.generation.planning.page import StudyPlan, assumptions_of, warnings_of
from fieldwork.generation.planning.rows import PlannedArm, plan_rows, stream_row
from fieldwork.generation.planning.streams import read_streamed_requests
from fieldwork.generation.planning.tables import (
    PlanInputs,
    read_all_requests,
    read_arms,
    read_observed_tokens,
)
from fieldwork.generation.pricing import Price
from fieldwork.records.generation import PlanRow
from fieldwork.waves import present, read_wave


def plan_study(study: PlanInputs) -> StudyPlan:
    """What is left to send, by what earlier answers showed."""
    rows: list[PlanRow] = []
    observed_tokens: dict[str, ObservedTokens] = {}
    models: dict[str, Any] = {}
    prices: dict[str, Price] = {}
    n_saved = 0
    for part in study.parts():
        models |= part.models
        n_saved += len(part.models) * sum(r.n_saved for r in read_all_requests(part).values())
        prices |= {name: price for name in part.models if (price := part.price(name))}
        rows += _plan_part(part, observed_tokens)
    return StudyPlan(
        rows,
        warnings_of(models, rows),
        [
            *_savings(n_saved),
            *assumptions_of(study.assumptions, observed_tokens, rows, prices),
        ],
        study.recorded_models,
    )


def _savings(n_saved: int) -> list[str]:
    if not n_saved:
        return []
    return [
        "Choices are asked once after each context and twice without a user, as answers state the "
        f"probabilities of options (study.probabilities): {n_saved:,} requests fewer than with repeats."
    ]


def _plan_part(study: PlanInputs, observed_tokens: dict[str, ObservedTokens]) -> Iterator[PlanRow]:
    """The rows of a study without its auxiliary tasks, or of one of these.

    Args:
        observed_tokens: by model; what the first part with a model showed is what the plan states.
    """
    requests = read_all_requests(study)
    for model, entry in study.models.items():
        tokens = read_observed_tokens(study, model, requests)
        observed_tokens.setdefault(model, tokens)
        price, latency_s = study.price(model), study.assumptions["latency_s"]
        answers = ledger_answers(study, model, entry, requests)
        for arm in read_arms(study, model, requests, answers):
            arm = _in_its_time(arm, study).expecting(tokens)
            yield from plan_rows(arm, entry, price, tokens, latency_s)
        streams = read_streamed_requests(study, model, requests)
        answers = ledger_answers(study, model, stream_settings(entry), streams)
        # an answer in the tables of responses is not one to a stream
        for arm in read_arms(study._replace(responses=()), model, streams, answers):
            arm = _in_its_time(arm, study).expecting(tokens)
            yield stream_row(arm, entry, price, tokens, latency_s)


def _in_its_time(arm: PlannedArm, study: PlanInputs) -> PlannedArm:
    """The arm; of a wave that is over nothing more is asked."""
    wave = study.conditions[arm.condition].get("wave")
    if wave is None or not read_wave(wave).is_over(present()):
        return arm
    return arm._replace(groups=(), n_requests=arm.n_answered)


def expected_costs(study: PlanInputs) -> dict[PlannedCalls, float | None]:
    """US dollars that the calls of each arm were expected to cost before its first answer."""
    costs: dict[PlannedCalls, float | None] = {}
    for part in study._replace(responses=()).parts():
        costs |= _expected_costs(part)
    return costs


def _expected_costs(study: PlanInputs) -> dict[PlannedCalls, float | None]:
    requests, latency_s = read_all_requests(study), study.assumptions["latency_s"]
    costs: dict[PlannedCalls, float | None] = {}
    for model, entry in study.models.items():
        price = study.price(model)
        for arm in read_arms(study, model, requests, {}):
            rows = plan_rows(arm, entry, price, NOTHING_OBSERVED, latency_s)
            (chosen_row,) = (row for row in rows if row.is_chosen)
            costs[PlannedCalls(model, arm.task, arm.condition)] = chosen_row.cost_expected_usd
        for arm in read_arms(study, model, read_streamed_requests(study, model, requests), {}):
            row = stream_row(arm, entry, price, NOTHING_OBSERVED, latency_s)
            key = PlannedCalls(model, arm.task, arm.condition, is_stream=True)
            costs[key] = row.cost_expected_usd
    return costs
