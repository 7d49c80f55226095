"""Download a data set of the config at its pinned revision.

In: the hub. Out: the files and their checksums beside the manifest, which lists them.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage
from fieldwork.downloads import hub
from fieldwork.downloads.manifest import write_manifest


def main(manifest: str, dataset: str, location: dict[str, Any]) -> None:
    """Fetch what is missing, then write the manifest."""
    repo, revision = location["repo"], location["revision"]
    files = hub.download(
        name=dataset,
        repo=repo,
        revision=revision,
        patterns=location["files"],
        folder=Path(manifest).parent,
    )
    checksums = [(file.path, file.sha256) for file in files]
    write_manifest(Path(manifest), repo=repo, revision=revision, checksums=checksums)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
