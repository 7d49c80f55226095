"""The plan of a study: every arm of every model, and what the answers of an arm should cost."""

from fieldwork.generation.planning.ledger import ledger_answers
from fieldwork.generation.planning.loads import NOTHING_OBSERVED, ObservedTokens
from fieldwork.generation.planning.page import StudyPlan, assumptions_of, warnings_of
from fieldwork.generation.planning.rows import PlannedArm, plan_rows
from fieldwork.generation.planning.tables import (
    PlanInputs,
    read_all_requests,
    read_arms,
    read_observed_tokens,
)
from fieldwork.records.generation import PlanRow
from fieldwork.waves import present, read_wave


def plan_study(study: PlanInputs) -> StudyPlan:
    """What is left to send, by what earlier answers showed."""
    requests = read_all_requests(study)
    rows: list[PlanRow] = []
    observed_tokens: dict[str, ObservedTokens] = {}
    for model, entry in study.models.items():
        tokens = read_observed_tokens(study, model, requests)
        observed_tokens[model] = tokens
        answers = ledger_answers(study, model, entry, requests)
        for arm in read_arms(study, model, requests, answers):
            rows += plan_rows(
                _in_its_time(arm, study).expecting(tokens),
                entry,
                study.price(model),
                tokens,
                study.assumptions["latency_s"],
            )
    return StudyPlan(
        rows,
        warnings_of(study.models, rows),
        assumptions_of(study.assumptions, observed_tokens, rows),
        study.recorded_models,
    )


def _in_its_time(arm: PlannedArm, study: PlanInputs) -> PlannedArm:
    """The arm; of a wave that is over nothing more is asked."""
    wave = study.conditions[arm.condition].get("wave")
    if wave is None or not read_wave(wave).is_over(present()):
        return arm
    return arm._replace(groups=(), n_requests=arm.n_answered)


def expected_costs(study: PlanInputs) -> dict[tuple[str, str, str], float | None]:
    """US dollars that each model, task and condition was expected to cost before its first answer."""
    study = study._replace(responses=())
    requests, latency_s = read_all_requests(study), study.assumptions["latency_s"]
    return {
        (model, arm.task, arm.condition): row.cost_expected_usd
        for model, entry in study.models.items()
        for arm in read_arms(study, model, requests, {})
        for row in plan_rows(arm, entry, study.price(model), NOTHING_OBSERVED, latency_s)
        if row.is_chosen
    }
