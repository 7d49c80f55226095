"""Draw the profile puppets.

In: persona and sentence sources, the template. Out: <results>/personas/profiles.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.downloads.manifest import local_files
from fieldwork.files import texts
from fieldwork.puppets.personas import build_profiles
from fieldwork.records.puppets import Profile


def main(
    personas: list[str],
    sentences: list[str],
    template: str,
    profiles: str,
    settings: dict[str, Any],
    n_profiles: int,
    seed: int,
) -> None:
    """Draw and write."""
    rows = build_profiles(
        texts.read_texts(local_files(personas), settings["personas"]["column"]),
        texts.read_texts(local_files(sentences), settings["sentences"]["column"]),
        n_profiles=n_profiles,
        sentences_per_profile=settings["sentences_per_profile"],
        template=texts.read_text(template),
        seed=seed,
    )
    tables.write_table(profiles, rows, Profile)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
