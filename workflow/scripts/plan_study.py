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
    study: Study,
    models: dict[str, Any],
    prices: dict[str, Any],
    csv: str,
    page: str,
    name: str,
    budget_usd: float | None,
) -> None:
    """Count, price and write."""
    prompts = {(t, c): read_prompts(study, t, c) for t in study.tasks for c in study.conditions}
    rows: list[PlanRow] = []
    learnt: dict[str, Learnt] = {}
    for model, entry in models.items():
        learnt[model] = read_learnt(study, model, prompts)
        price = price_of(prices, entry.get("model", ""))
        answered = answered_by_ledger(study, model, entry, prompts)
        for arm in read_arms(study, model, prompts, answered):
            seen = learnt[model].output_tokens.get(arm.task)
            told = arm if seen is None else arm._replace(output_tokens=seen)
            rows += plan_rows(told, entry, price, learnt[model], study.assumed["latency_s"])
    facts = Facts(
        name, budget_usd, warnings_of(models, rows), assumptions_of(study.assumed, learnt, rows)
    )
    tables.write_csv_rows(csv, rows, PlanRow)
    with tables.atomic_path(page) as partial:
        partial.write_text(render(rows, facts), encoding="utf-8")


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        study=Study(
            snakemake.params.tasks,
            snakemake.params.conditions,
            snakemake.params.plan,
            folder=str(Path(snakemake.output.csv).parent),
            files=set(snakemake.input),
            responses=set(snakemake.params.answered),
            ledgers=set(snakemake.params.ledgers),
            seed=snakemake.params.seed,
        ),
        models=snakemake.params.models,
        prices=snakemake.params.prices,
        csv=snakemake.output.csv,
        page=snakemake.output.page,
        name=snakemake.params.name,
        budget_usd=snakemake.params.budget_usd,
    )
