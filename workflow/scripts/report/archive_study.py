"""Pack a finished study: a folder that says what it holds, and a zip file of it.

In: everything that the study made, and resources. Out: <results>/archive.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.config.archive import archive_plan
from fieldwork.config.archive_files import CODE
from fieldwork.config.study import Study
from fieldwork.exports.archive.code import code_files, code_version_at
from fieldwork.exports.archive.contents import LEDGERS, ArchivePlan, gather
from fieldwork.exports.archive.packing import write_checksums, write_zip
from fieldwork.exports.archive.pages import write_lists, write_readme, write_record
from fieldwork.exports.archive.secrets import refuse_secrets, secret_marks
from fieldwork.files.text_search import files_beneath, search
from fieldwork.generation.answer_copies import copy_answers
from fieldwork.records.generation import Response


def main(archive: str, label: dict[str, Any], home: str, config: dict[str, Any]) -> None:
    """Gather, describe, look for secrets, and pack."""
    plan = ArchivePlan(**archive_plan(Study(config, Path(home))))
    folder, code = Path(archive, plan.study), code_version_at(Path(home), label["version"])
    gather(folder, plan, Path(home), code_files(Path(home), CODE, plan.private_files))
    for model, paths in plan.ledgers.items():
        keys = [
            bytes.fromhex(key)
            for path in paths
            for (key,) in tables.read_columns(Path(plan.results) / path, Response, ["ledger_key"])
            if key is not None
        ]
        ledger = Path(LEDGERS, f"{model}.sqlite")
        if keys and ledger.exists():
            copy_answers(ledger, folder / LEDGERS / ledger.name, keys)
    write_lists(folder, plan)
    write_record(folder, plan, code)
    write_readme(folder, plan, code)
    refuse_secrets(search(files_beneath(folder), secret_marks(plan.key_files)), folder)
    write_checksums(folder)
    write_zip(Path(archive, f"{plan.study}.zip"), folder)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
