"""Add up what the answers of a study cost, beside what the plan expects of the same requests.

In: responses, and the tables of items, requests and contexts they come from. Out: <results>/cost.csv.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.generation.costs import Billed, cost_rows
from fieldwork.generation.planning.loads import learn
from fieldwork.generation.planning.rows import plan_rows
from fieldwork.generation.planning.tables import Study, read_arms, read_prompts
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
    study = Study(tasks, conditions, plan, folder=str(Path(cost).parent), files=files)
    prompts = {(t, c): read_prompts(study, t, c) for t in tasks for c in conditions}
    planned_usd = {}
    for model, entry in models.items():
        price = price_of(prices, entry.get("model", ""))
        for arm in read_arms(study, model, prompts, {}):
            # what was known before the first answer: nothing learnt
            for row in plan_rows(arm, entry, price, learn([], [], {}), plan["latency_s"]):
                if row.is_chosen:
                    planned_usd[model, arm.task, arm.condition] = row.cost_expected_usd
    bills = (
        Billed(*row)
        for path in responses
        for row in tables.read_columns(path, Response, Billed._fields)
    )
    storing = {name for name, entry in models.items() if entry.get("explicit_cache")}
    tables.write_table(cost, cost_rows(bills, planned_usd, storing), CostRow)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
