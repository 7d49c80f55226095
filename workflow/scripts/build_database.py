"""Put every table of the study into one DuckDB file, with the view `transcripts`.

In: every table. Out: <results>/study.duckdb.
"""

from fieldwork import stage, tables
from fieldwork.database import write_database


def main(inputs: dict[str, list[str]], metrics: list[str], database: str) -> None:
    """One table a stage, and one a metric."""
    named = {name: files for name, files in inputs.items() if files}
    write_database(database, named | {tables.stem(path): [path] for path in metrics})


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        inputs={
            "conversations": list(snakemake.input.conversations),
            "profiles": list(snakemake.input.profiles),
            "items": list(snakemake.input.task),
            "contexts": list(snakemake.input.contexts),
            "requests": list(snakemake.input.requests),
            "responses": list(snakemake.input.responses),
            "answers": [snakemake.input.answers],
            "field_answers": list(snakemake.input.field_answers),
            "field_participants": list(snakemake.input.field_participants),
        },
        metrics=list(snakemake.input.metrics),
        database=snakemake.output.database,
    )
