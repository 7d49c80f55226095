"""Add up what the answers of a study cost, beside what the plan expects of the same requests.

In: responses, and the tables of items, requests and contexts they come from. Out: <results>/cost.csv.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.generation.costs import BilledAnswer, cost_rows
from fieldwork.generation.planning.loads import NOTHING_OBSERVED
from fieldwork.generation.planning.rows import plan_rows
from fieldwork.generation.planning.tables import PlanInputs, read_arms, read_requests
from fieldwork.generation.pricing import price_of
from fieldwork.records.generation import CostRow, Response


def main(
    responses: list[str],
    questions: list[str],
    requests: list[str],
    contexts: list[str],
    cost: str,
    tasks: dict[str, Any],
    conditions: dict[str, Any],
    models: dict[str, Any],
    prices: dict[str, Any],
    plan: dict[str, Any],
) -> None:
    """Add up and write."""
    files = {*questions, *requests, *contexts}
    study = PlanInputs(tasks, conditions, plan, folder=str(Path(cost).parent), files=files)
    planned_requests = {(t, c): read_requests(study, t, c) for t in tasks for c in conditions}
    planned_usd = {}
    for model, entry in models.items():
        price = price_of(prices, entry.get("model", ""))
        for arm in read_arms(study, model, planned_requests, {}):
            # what was expected before the first answer
            for row in plan_rows(arm, entry, price, NOTHING_OBSERVED, plan["latency_s"]):
                if row.is_chosen:
                    planned_usd[model, arm.task, arm.condition] = row.cost_expected_usd
    answers = (
        BilledAnswer(*row)
        for path in responses
        for row in tables.read_columns(path, Response, BilledAnswer._fields)
    )
    with_storage = {name for name, entry in models.items() if entry.get("explicit_cache")}
    tables.write_table(cost, cost_rows(answers, planned_usd, with_storage), CostRow)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
