"""Count the simulated users that each condition could have, and stop where they are too few.

In: the tables of the corpora and the persona source that conditions need.
Out: results/{study}/puppets.csv.
"""

from fieldwork import stage, tables
from fieldwork.config.needs import Need
from fieldwork.downloads.manifest import local_files
from fieldwork.puppets.supply import count_conversations, count_personas, puppet_counts
from fieldwork.records.puppets import PuppetCount


def main(
    corpora: dict[str, str],
    personas: list[str],
    persona_source: str,
    persona_column: str | None,
    needs: list[list[str | int]],
    counts: str,
) -> None:
    """Count, compare and write."""
    supplies = {name: count_conversations(path) for name, path in corpora.items()}
    if personas:
        supplies[persona_source] = count_personas(local_files(personas), persona_column)
    rows = puppet_counts([Need(*need) for need in needs], supplies)
    tables.write_csv_rows(counts, rows, PuppetCount)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        corpora=dict(zip(snakemake.params.corpora, snakemake.input.corpora, strict=True)),
        personas=list(snakemake.input.personas),
        persona_source=snakemake.params.personas["dataset"],
        persona_column=snakemake.params.personas["column"],
        needs=snakemake.params.needs,
        counts=snakemake.output.counts,
    )
