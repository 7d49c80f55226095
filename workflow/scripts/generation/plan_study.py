"""Plan a study: requests, tokens, time and cost before anything is sent.

In: tables of items, requests and contexts, as far as they are on this machine; ledgers and tables of
responses that are there already. Out: <results>/plan.csv and <results>/plan.html.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.generation.planning.ledger import answered_by_ledger
from fieldwork.generation.planning.loads import Learnt
from fieldwork.generation.planning.page import Facts, assumptions_of, render, warnings_of
from fieldwork.generation.planning.rows import plan_rows
from fieldwork.generation.planning.tables import Study, read_arms, read_learnt, read_prompts
from fieldwork.generation.pricing import price_of
from fieldwork.records.generation import PlanRow


def main(
    inputs: list[str],
    csv: str,
    page: str,
    name: str,
    tasks: dict[str, Any],
    conditions: dict[str, Any],
    models: dict[str, Any],
    prices: dict[str, Any],
    plan: dict[str, Any],
    budget_usd: float | None,
    answered: dict[str, int],
    ledgers: dict[str, int],
    seed: int,
) -> None:
    """Count, price and write."""
    study = Study(
        tasks,
        conditions,
        plan,
        str(Path(csv).parent),
        set(inputs),
        set(answered),
        set(ledgers),
        seed,
    )
    prompts = {(t, c): read_prompts(study, t, c) for t in tasks for c in conditions}
    rows: list[PlanRow] = []
    lessons: dict[str, Learnt] = {}
    for model, entry in models.items():
        lessons[model] = read_learnt(study, model, prompts)
        price = price_of(prices, entry.get("model", ""))
        answers = answered_by_ledger(study, model, entry, prompts)
        for arm in read_arms(study, model, prompts, answers):
            tokens = lessons[model].output_tokens.get(arm.task)
            measured_arm = arm if tokens is None else arm._replace(output_tokens=tokens)
            rows += plan_rows(measured_arm, entry, price, lessons[model], plan["latency_s"])
    facts = Facts(name, budget_usd, warnings_of(models, rows), assumptions_of(plan, lessons, rows))
    tables.write_table(csv, rows, PlanRow)
    with tables.atomic_path(page) as partial:
        partial.write_text(render(rows, facts), encoding="utf-8")


if __name__ == "__main__":
    stage.run_script(main, snakemake)
