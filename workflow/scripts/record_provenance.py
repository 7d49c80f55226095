"""Record the merged config and the versions of everything that computed the study.

Out: <results>/provenance/config.yaml and versions.csv.
"""

import platform
import re
from importlib import metadata
from typing import Any, NamedTuple

import yaml

from fieldwork import stage, tables
from fieldwork.files import texts
from fieldwork.masking import Mask, environment_secrets
from fieldwork.provenance import digest


class Version(NamedTuple):
    """A part of the environment and its version."""

    name: str
    version: str


def main(config: str, versions: str, requirements: str, settings: dict[str, Any]) -> None:
    """Write both records."""
    record = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
    with tables.atomic_path(config) as partial:
        partial.write_bytes(Mask(environment_secrets()).reply(record.encode()))
    names = re.findall(r"^([A-Za-z0-9_.-]+)==", texts.read_text(requirements), re.MULTILINE)
    found = [
        Version("python", platform.python_version()),
        Version("study config", digest(settings)),
        *(Version(name, metadata.version(name)) for name in sorted(names, key=str.lower)),
    ]
    tables.write_csv_tuples(versions, Version._fields, found)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        config=snakemake.output.config,
        versions=snakemake.output.versions,
        requirements=snakemake.input.requirements,
        settings=snakemake.config,
    )
