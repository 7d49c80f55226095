"""Take every whole answer out of damaged ledgers. Run by hand: `snakemake --cores 1 recover_ledgers`.

In and out: resources/ledger/{model}.sqlite, of every model of the config that has one; a damaged file is
kept beside the new one.
"""

import logging
from typing import Any

from fieldwork import stage
from fieldwork.encoder import ANSWER_VECTORS
from fieldwork.errors import StudyError
from fieldwork.generation.inventory import Inventory
from fieldwork.generation.ledger import LEDGERS
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.recovery.salvage import model_check, recover, sentence_of


def main(models: dict[str, Any]) -> None:
    """Look at each ledger, and recover those that are damaged."""
    logger = logging.getLogger("fieldwork")
    failures: list[str] = []
    for name, model in models.items():
        path = LEDGERS / f"{name}.sqlite"
        if not path.exists() and Inventory(path).count() is None:
            continue
        # answers are read without a key to the account
        provider = make_provider({**model, "api_key_env": None}, ANSWER_VECTORS)
        recovery = recover(path, model_check(provider))
        if recovery.is_lost:
            failures.append(sentence_of(path, recovery))
        else:
            logger.info("%s", sentence_of(path, recovery), extra={"is_shown": True})
    if failures:
        raise StudyError(" ".join(failures))


if __name__ == "__main__":
    stage.run_script(main, snakemake)
