"""Take the answers of a model from files where they were recorded; no call is made.

In: the files of the model's recording, and items. Out:
<results>/responses/{model}/{task}/{condition}.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.downloads.manifest import local_files
from fieldwork.files.recordings.answers import Recording, read_answers
from fieldwork.generation.recordings import RecordedArm, recorded_responses
from fieldwork.records.generation import Response
from fieldwork.records.tasks import Item


def main(
    files: list[str],
    questions: str,
    responses: str,
    recording: Recording,
    arm: dict[str, Any],
) -> None:
    """Read, match to the study's items and users, and write."""
    answers = read_answers(local_files(files), recording)
    items = tables.read_rows(questions, Item)
    tables.write_table(responses, recorded_responses(answers, items, RecordedArm(**arm)), Response)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
