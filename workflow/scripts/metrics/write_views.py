"""Write the tables of earlier versions, which are views of the estimates now, as CSV.

In: <results>/metrics/estimates. Out: <results>/metrics/heterogeneity.csv and the others.
"""

from fieldwork import stage
from fieldwork.database import write_views


def main(estimates: list[str], outputs: dict[str, str]) -> None:
    """Write them; outputs have the names of views."""
    write_views(estimates, outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
