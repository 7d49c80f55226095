"""Count the simulated users that each condition could have, and stop where they are too few.

In: the tables of the corpora and the persona source that conditions need.
Out: results/{study}/puppets.csv.
"""

import json
from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.config.needs import Need
from fieldwork.downloads.manifest import local_files
from fieldwork.puppets.supply import (
    count_conversations,
    count_personas,
    puppet_counts,
    require_enough,
)
from fieldwork.records.puppets import PuppetCount


def main(
    corpora: list[str],
    personas: list[str],
    persona_source: dict[str, Any],
    filters: dict[str, str],
    needs: str,
    counts: str,
) -> None:
    """Count, compare and write; the folder of a table has the name of its corpus."""
    supplies = {Path(path).parent.name: count_conversations(path) for path in corpora}
    if personas:
        n_personas = count_personas(local_files(personas), persona_source["column"])
        supplies[persona_source["dataset"]] = n_personas
    require_enough([Need(*need) for need in json.loads(needs)], supplies)
    tables.write_table(counts, puppet_counts(supplies, filters), PuppetCount)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
