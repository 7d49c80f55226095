"""Put every table of the study behind one DuckDB file, as views over the Parquet files.

In: every table. Out: results/study.duckdb; open it from the study's folder.
"""

from fieldwork import stage, tables


def main(inputs: dict[str, list[str]], metrics: list[str], database: str) -> None:
    """One view a stage, and one a metric."""
    views = {name: files for name, files in inputs.items() if files}
    views |= {tables.stem(path): [path] for path in metrics}
    tables.write_views(database, views, folders={"conversations": "corpus"})


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
