"""Take every whole answer out of damaged ledgers. Run by hand: `snakemake --cores 1 recover_ledgers`.

In and out: resources/ledger/{model}.sqlite, of every model of the config that has one; a damaged file is
kept beside the new one.
"""

from typing import Any

from fieldwork import stage
from fieldwork.encoder import ANSWER_VECTORS
from fieldwork.generation.ledger import LEDGERS
from fieldwork.generation.recovery.salvage import recover_ledgers


def main(models: dict[str, Any]) -> None:
    """Look at each ledger, and recover those that are damaged."""
    recover_ledgers(models, LEDGERS, ANSWER_VECTORS)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
