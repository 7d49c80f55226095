"""Record the merged config and the versions of everything that computed the study.

Out: <results>/provenance/config.yaml and versions.csv.
"""

import platform
import re
from importlib import metadata
from typing import Any, NamedTuple

import yaml

from fieldwork import provenance, stage, tables
from fieldwork.files import texts
from fieldwork.masking import Mask, environment_secrets


class Version(NamedTuple):
    """A part of the environment and its version."""

    name: str
    version: str


def main(requirements: str, settings: str, versions: str, config: dict[str, Any]) -> None:
    """Write both records."""
    record = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    with tables.atomic_path(settings) as partial:
        partial.write_bytes(Mask(environment_secrets()).reply(record.encode()))
    names = re.findall(r"^([A-Za-z0-9_.-]+)==", texts.read_text(requirements), re.MULTILINE)
    rows = [
        Version("python", platform.python_version()),
        Version("study config", provenance.digest(config)),
        *(Version(name, metadata.version(name)) for name in sorted(names, key=str.lower)),
    ]
    tables.write_csv_tuples(versions, Version._fields, rows)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
