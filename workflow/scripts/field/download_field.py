"""Fetch the field's files from an OSF project.

In: OSF, by field.osf. Out: the files beside the manifest, which lists them with hash, size and date.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage
from fieldwork.downloads.manifest import write_manifest
from fieldwork.field import osf


def main(manifest: str, location: dict[str, Any]) -> None:
    """Fetch what is missing, then write the manifest."""
    path = Path(manifest)
    files = osf.download(
        node=location["node"],
        url=location["url"],
        patterns=location["files"],
        # the project may have a manifest.json of its own
        folder=path.parent / "files",
    )
    write_manifest(
        path,
        repo=f"{location['url']}/nodes/{location['node']}",
        revision=max(file.modified_at for file in files),
        checksums=[(file.path, file.sha256) for file in files],
        details={file.path: file.details() for file in files},
    )


if __name__ == "__main__":
    stage.run_script(main, snakemake)
