"""Hash what decides a study, for its preregistrations: questions, the files that settings name, and code.

In: items of every task, and the files. Out: <results>/provenance/hashes.json.
"""

import json
from typing import Any

from fieldwork import stage, tables
from fieldwork.metrics.claims.study_hashes import study_hashes


def main(
    questions: list[str],
    files_by_setting: dict[str, list[str]],
    downloads: dict[str, dict[str, Any]],
    code_versions: dict[str, str],
    hashes: str,
) -> None:
    """Hash and write."""
    content = study_hashes(tables.read_tasks(questions), files_by_setting, downloads, code_versions)
    tables.write_text(hashes, json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    stage.run_script(main, snakemake)
