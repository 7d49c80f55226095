"""The results of a batch, from the provider into a file that is gone when it is closed."""

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from fieldwork.errors import StudyError
from fieldwork.generation.batches.patience import Patience
from fieldwork.generation.providers.base import RejectedError
from fieldwork.generation.providers.batch_base import BatchClient, BatchStatus

logger = logging.getLogger(__name__)

DOWNLOADS = 3


@contextmanager
def spooled(folder: Path) -> Iterator[BinaryIO]:
    """A file for results, on the disk of `folder`.

    Raises:
        StudyError: the disk refuses.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as spool:
            yield cast(BinaryIO, spool)
    except OSError as error:
        raise StudyError(
            f"{folder}: a batch's results cannot be written here ({error}); they stay with the provider: "
            f"free disk space, and run again"
        ) from error


class Downloads:
    """Fetches files of results, one after the other."""

    def __init__(self, client: BatchClient, patience: Patience) -> None:
        self._client, self._patience = client, patience

    def into(self, spool: BinaryIO, status: BatchStatus) -> BatchStatus:
        """Write a batch's results into `spool`; the status that comes back tells of lost ones."""
        for file_id in status.files:
            try:
                self._fetch_whole(file_id, spool)
            except RejectedError as error:
                # they are kept for some weeks only
                status = status._replace(error=f"results {file_id} are gone: {error}")
                logger.warning("%s", status.error)
        spool.seek(0)
        return status

    def _fetch_whole(self, file_id: str, spool: BinaryIO) -> None:
        """Download a file, and again while it has lines that cannot be read: a proxy may be to blame."""
        start = spool.tell()
        for _ in range(DOWNLOADS):
            self._patience.tried(partial(self._fetch, file_id, spool, start), "downloading results")
            spool.seek(start)
            is_whole = all(self._is_row(line) for line in spool if line.strip())
            spool.seek(0, os.SEEK_END)
            if is_whole:
                return

    def _is_row(self, line: bytes) -> bool:
        try:
            self._client.row(line)
        except ValueError:
            return False
        return True

    def _fetch(self, file_id: str, spool: BinaryIO, start: int) -> None:
        spool.seek(start)
        spool.truncate()
        self._client.download(file_id, spool)
        # two files must not meet in one line
        spool.write(b"\n")
