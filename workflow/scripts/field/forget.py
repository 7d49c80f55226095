"""Delete participants who ask for it from the field's files and all results, and search for what is left.

In: resources/field/forget.txt, with their ids. Out: resources/field/deletions.csv, the record of it.
"""

import logging
from pathlib import Path
from typing import Any

from fieldwork import stage
from fieldwork.config.field import FORGET_FILE, field_files
from fieldwork.errors import StudyError
from fieldwork.field.deletion.forgetting import forget
from fieldwork.field.deletion.sentences import account_of, failure_of
from fieldwork.field.deletion.site import site_of
from fieldwork.run_record import LockState, read_run


def main(field: dict[str, Any] | None, lock: LockState) -> None:
    """Delete, search, and print what was done; `lock` is that of the folder as this run began."""
    site = site_of(field, field_files({"field": field}))
    if lock in ("in use", "elsewhere"):
        raise StudyError(
            f"{FORGET_FILE}: another run is using this folder and may write again what is deleted; wait "
            f"until it ends, and run `snakemake forget` again. If that run was killed, run "
            f"`snakemake --unlock` first"
        )
    run = read_run(Path())
    outcome = forget(site, is_alone=lambda: read_run(Path()) == run)
    for sentence in account_of(outcome, site):
        logging.getLogger("fieldwork.forget").info("%s", sentence)
        print(sentence)
    failure = failure_of(outcome)
    if failure is not None:
        raise StudyError(failure)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
