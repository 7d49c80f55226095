"""Record the merged config and the versions of everything that computed the study.

Out: <results>/provenance/config.yaml and versions.csv.
"""

from typing import Any

import yaml

from fieldwork import provenance, stage, tables
from fieldwork.files import texts
from fieldwork.masking import Mask, environment_secrets


def main(requirements: str, settings: str, versions: str, config: dict[str, Any]) -> None:
    """Write both records."""
    record = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    with tables.atomic_path(settings) as partial:
        partial.write_bytes(Mask(environment_secrets()).reply(record.encode()))
    rows = provenance.versions(texts.read_text(requirements), config)
    tables.write_csv_tuples(versions, ("name", "version"), rows)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
