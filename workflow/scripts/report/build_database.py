"""Put every table of the study into one DuckDB file, with the view `transcripts`.

In: every table. Out: <results>/study.duckdb.
"""

from fieldwork import stage, tables
from fieldwork.database import write_database


def main(inputs: dict[str, str | list[str]], metrics: list[str], database: str) -> None:
    """Every input is a table under its name, and every table of estimates under its file's."""
    files = {name: [value] if isinstance(value, str) else value for name, value in inputs.items()}
    del files["metrics"]
    # Snakemake keeps the name `items` for itself
    files["items"] = files.pop("questions")
    stages = {name: paths for name, paths in files.items() if paths}
    write_database(database, stages | tables.files_by_table(metrics))


if __name__ == "__main__":
    stage.run_script(main, snakemake)
