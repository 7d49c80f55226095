"""Download a data set of the config at its pinned revision.

In: the hub. Out: the files and their checksums beside the manifest, which lists them.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage
from fieldwork.downloads import hub
from fieldwork.downloads.manifest import write_manifest


def main(manifest: str, name: str, location: dict[str, Any]) -> None:
    """Fetch what is missing, then write the manifest."""
    folder = Path(manifest).parent
    files = hub.download(
        name=name,
        repo=location["repo"],
        revision=location["revision"],
        patterns=location["files"],
        folder=folder,
    )
    write_manifest(
        Path(manifest),
        repo=location["repo"],
        revision=location["revision"],
        checksums=[(file.path, file.sha256) for file in files],
    )


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        manifest=snakemake.output.manifest,
        name=snakemake.wildcards.dataset,
        location=snakemake.params.location,
    )
