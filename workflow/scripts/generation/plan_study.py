"""Plan a study: requests, tokens, time and cost before anything is sent.

In: tables of items, requests and contexts, as far as they are on this machine; ledgers and tables of
responses that are there already. Out: <results>/plan.csv and <results>/plan.html.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.generation.planning.page import render
from fieldwork.generation.planning.plan import plan_study
from fieldwork.generation.planning.tables import PlanInputs
from fieldwork.records.generation import PlanRow


def main(
    inputs: list[str],
    csv: str,
    page: str,
    name: str,
    study: dict[str, Any],
    budget_usd: float | None,
    made_times: dict[str, int],
    answer_times: dict[str, int],
    ledger_times: dict[str, int],
) -> None:
    """Count, price and write."""
    files = {"files": {*inputs, *made_times}, "responses": answer_times, "ledgers": ledger_times}
    plan = plan_study(PlanInputs(**study, **files))
    tables.write_table(csv, plan.rows, PlanRow)
    tables.write_text(page, render(plan, name=name, budget_usd=budget_usd))


if __name__ == "__main__":
    stage.run_script(main, snakemake)
