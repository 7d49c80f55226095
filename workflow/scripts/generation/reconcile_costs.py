"""Add up what the answers of a study cost, beside what the plan expects of the same requests.

In: responses, streamed calls, and the tables of items, requests and contexts they come from. Out:
<results>/cost.csv.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.generation.costs import cost_rows, read_bills, read_stream_bills
from fieldwork.generation.planning.plan import expected_costs
from fieldwork.generation.planning.tables import PlanInputs
from fieldwork.records.generation import CostRow


def main(
    inputs: list[str],
    responses: list[str],
    first_token_tables: list[str],
    cost: str,
    study: dict[str, Any],
) -> None:
    """Add up and write."""
    planned_usd = expected_costs(PlanInputs(**study, files=set(inputs)))
    with_storage = {name for name, entry in study["models"].items() if entry.get("explicit_cache")}
    bills = [*read_bills(responses), *read_stream_bills(first_token_tables)]
    tables.write_table(cost, cost_rows(bills, planned_usd, with_storage), CostRow)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
