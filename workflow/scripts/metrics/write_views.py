"""Write the tables of earlier versions, which are views of the estimates now, as CSV.

In: <results>/metrics/estimates, and tables that views take besides.
Out: <results>/metrics/heterogeneity.csv and the others.
"""

from typing import Any

from fieldwork import stage
from fieldwork.database import write_views


def main(inputs: dict[str, Any], outputs: dict[str, str]) -> None:
    """Write them; inputs have the names of tables, outputs those of views."""
    files = {name: [paths] if isinstance(paths, str) else paths for name, paths in inputs.items()}
    write_views(files, outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
