"""Correct every test of the study together with the others of its family.

In: all tables of <results>/metrics. Out: <results>/metrics/claims.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.claims.table import measure_claims, row_types
from fieldwork.records.claims import Claim


def main(metrics: list[str], claims: str, rules: dict[str, Any]) -> None:
    """Read the tables that have tests, correct and write."""
    paths = {tables.stem(path): path for path in metrics}
    rows = {
        name: tables.read_rows(paths[name], row_type)
        for name, row_type in row_types().items()
        if name in paths
    }
    tables.write_table(claims, measure_claims(rows, ClaimRules.of_study(rules)), Claim)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
