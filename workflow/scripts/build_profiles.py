"""Draw the profile puppets.

In: persona and sentence sources, the template. Out: <results>/personas/profiles.parquet.
"""

from fieldwork import stage, tables
from fieldwork.downloads.manifest import local_files
from fieldwork.files import texts
from fieldwork.puppets.personas import build_profiles
from fieldwork.records.puppets import Profile


def main(
    personas: list[str],
    personas_column: str,
    sentences: list[str],
    sentences_column: str,
    template: str,
    profiles: str,
    n_profiles: int,
    sentences_per_profile: int,
    seed: int,
) -> None:
    """Draw and write."""
    drawn = build_profiles(
        texts.read_texts(local_files(personas), personas_column),
        texts.read_texts(local_files(sentences), sentences_column),
        n_profiles=n_profiles,
        sentences_per_profile=sentences_per_profile,
        template=texts.read_text(template),
        seed=seed,
    )
    tables.write_rows(profiles, drawn, Profile, order_by="puppet_id")


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        personas=list(snakemake.input.personas),
        personas_column=snakemake.params.personas_column,
        sentences=list(snakemake.input.sentences),
        sentences_column=snakemake.params.sentences_column,
        template=snakemake.input.template,
        profiles=snakemake.output.profiles,
        n_profiles=snakemake.params.n_profiles,
        sentences_per_profile=snakemake.params.sentences_per_profile,
        seed=snakemake.params.seed,
    )
