"""The results of a batch, from the provider into a temporary file."""

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
def spool_file(folder: Path) -> Iterator[BinaryIO]:
    """A file for results on the disk of `folder`, deleted when it is closed.

    Raises:
        StudyError: the disk refuses.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as spool:
            yield cast(BinaryIO, spool)
    except OSError as error:
        raise StudyError(
            f"{folder}: the results of a batch cannot be written here ({error}). They stay with the "
            f"provider. Free disk space, and run again."
        ) from error


class Downloads:
    """Fetches files of results, one after the other."""

    def __init__(self, client: BatchClient, patience: Patience) -> None:
        self._client, self._patience = client, patience

    def into(self, spool: BinaryIO, status: BatchStatus) -> BatchStatus:
        """Write a batch's results into `spool`.

        Returns:
            The status, with an error where results are lost.
        """
        for file_id in status.files:
            try:
                self._fetch_whole(file_id, spool)
            except RejectedError as error:
                # providers keep results for some weeks only
                status = status._replace(
                    error=f"the provider no longer has results {file_id}: {error}"
                )
                logger.warning("%s", status.error)
        spool.seek(0)
        return status

    def _fetch_whole(self, file_id: str, spool: BinaryIO) -> None:
        """Download a file, and again while lines cannot be read, as a proxy may have cut it."""
        start = spool.tell()
        for _ in range(DOWNLOADS):
            self._patience.run(partial(self._fetch, file_id, spool, start), "downloading results")
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
