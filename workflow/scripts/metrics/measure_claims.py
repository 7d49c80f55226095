"""Correct every test of the study together with the others of its family.

In: all tables of <results>/metrics, <results>/responses. Out: <results>/metrics/claims.
"""

from fieldwork import stage, tables
from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.claims.repeated_arms import repeated_arms
from fieldwork.metrics.claims.table import measure_claims, row_types
from fieldwork.records.claims import Claim


def main(metrics: list[str], responses: list[str], claims: str, rules: ClaimRules) -> None:
    """Read the tables that have tests, correct and write."""
    rows = tables.read_row_lists(metrics, row_types())
    claim_rows = measure_claims(rows, rules, repeated_arms(responses))
    tables.write_table(claims, claim_rows, Claim)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
