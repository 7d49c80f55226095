"""Record the merged config and the versions of everything that computed the study.

Out: <results>/provenance/config.yaml and versions.csv.
"""

from typing import Any

import yaml

from fieldwork import provenance, stage, tables
from fieldwork.config.path_settings import ANSWER_FILES, with_paths
from fieldwork.files import texts
from fieldwork.masking import Mask, environment_secrets


def main(requirements: str, settings: str, versions: str, config: dict[str, Any]) -> None:
    """Write both records; files that people filled in are not named."""
    nameless_config = with_paths(config, lambda setting, _: f"({setting})", ANSWER_FILES)
    record = yaml.safe_dump(nameless_config, sort_keys=False, allow_unicode=True)
    with tables.atomic_path(settings) as partial:
        partial.write_bytes(Mask(environment_secrets()).reply(record.encode()))
    rows = provenance.versions(texts.read_text(requirements), config)
    tables.write_csv_tuples(versions, ("name", "version"), rows)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
