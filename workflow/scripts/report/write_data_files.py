"""Write the tables of a study as CSV and as files of SPSS and Stata, with a codebook.

In: <results>/study.duckdb. Out: <results>/export/tables.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage
from fieldwork.exports.data_files import DataSettings, write_data_files


def main(database: str, folder: str, settings: dict[str, Any]) -> None:
    """Read the tables from the database, and write them."""
    write_data_files(Path(folder), database, DataSettings(**settings))


if __name__ == "__main__":
    stage.run_script(main, snakemake)
