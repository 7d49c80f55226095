"""Send the archive of a study to a project on OSF.

In: <results>/archive. Out: files on OSF. It has no outputs: OSF knows what is there.
"""

import logging
from pathlib import Path
from typing import Any

from fieldwork import stage
from fieldwork.config.archive import sent_files
from fieldwork.errors import StudyError, size_text
from fieldwork.exports.archive.contents import files_below
from fieldwork.osf.upload import upload


def main(archive: str, study_name: str, osf: dict[str, Any] | None) -> None:
    """Send what is not there yet, and say what was sent."""
    if osf is None:
        raise StudyError(
            "archive.osf: no project is named to send the archive to; add archive: {osf: {node: abc12}} "
            "with the id that follows osf.io/ in its address"
        )
    paths = sent_files(study_name, osf["form"], files_below(Path(archive)))
    account = upload(
        node=osf["node"],
        url=osf["url"],
        folder=osf["folder"] or study_name,
        files={path.removeprefix(f"{study_name}/"): Path(archive, path) for path in paths},
    )
    sentence = (
        f"{len(account.new_paths)} files are new on OSF, {len(account.changed_paths)} became a new "
        f"version, and {len(account.same_paths)} were there already ({size_text(account.n_bytes)} sent "
        f"to {osf['node']})."
    )
    logging.getLogger("fieldwork.upload_archive").info("%s", sentence)
    print(sentence)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
