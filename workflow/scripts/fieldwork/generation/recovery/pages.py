"""Records of a SQLite file that SQLite itself cannot read any more, page by page.

Source: "Database File Format" (sqlite.org/fileformat2.html): sections 1.3 (header), 1.6 (b-tree pages),
1.7 (overflow), 2.1 (records) and 4.1 (write-ahead log). A table WITHOUT ROWID keeps its rows in the
pages of an index, in leaves and above them. Every such page is read, wherever it is in the file, so that
neither a lost root nor a cut file hides what is whole. A record may be nonsense, an old version, or come
twice: the caller has to know what a whole row is.
"""

import mmap
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

Value = int | float | bytes | None
Record = tuple[Value, ...]

MAGIC = b"SQLite format 3\0"
USUAL_PAGE = 4096
# type byte of index pages → bytes of their header, and bytes before each of their payloads
_INDEX_PAGES = {10: (8, 0), 2: (12, 4)}
_LOG_HEADER, _FRAME_HEADER = 32, 24
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_LONGEST_CHAIN = 100_000


@contextmanager
def open_pages(path: Path) -> Iterator["Pages"]:
    """The pages of a database and of its write-ahead log; a file that is not there has none.

    Raises:
        OSError: a file cannot be read.
    """
    with ExitStack() as stack:
        database = _map_file(path, stack)
        log = _map_file(path.with_name(f"{path.name}-wal"), stack)
        yield Pages(database, log)


def _map_file(path: Path, stack: ExitStack) -> mmap.mmap | bytes:
    if not path.is_file() or not path.stat().st_size:
        return b""
    handle = stack.enter_context(path.open("rb"))
    return stack.enter_context(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ))


class Pages:
    """The pages of a database; made by `open_pages`."""

    def __init__(self, database: mmap.mmap | bytes, log: mmap.mmap | bytes) -> None:
        self._database, self._log = database, log
        self._size = _page_size(database, log)
        n_reserved = database[20] if len(database) > 20 and database[:16] == MAGIC else 0
        self._usable = self._size - n_reserved
        # where the last version of each page is in the log
        self._log_places = dict(self._frames())

    def records(self) -> Iterator[Record]:
        """Every record of every index page that can be made out, in all versions there are."""
        for number in range(1, -(-len(self._database) // self._size) + 1):
            yield from self._records_of(number, self._database_page(number))
        for number, start in self._frames():
            yield from self._records_of(number, self._log_page(start))

    def _frames(self) -> Iterator[tuple[int, int]]:
        """Number of the page and start of its bytes, of each frame of the log, whole or not."""
        step = _FRAME_HEADER + self._size
        for frame in range(_LOG_HEADER, len(self._log) - _FRAME_HEADER, step):
            number = int.from_bytes(self._log[frame : frame + 4], "big")
            yield number, frame + _FRAME_HEADER

    def _database_page(self, number: int) -> bytes:
        start = (number - 1) * self._size
        return self._database[start : start + self._size].ljust(self._size, b"\0")

    def _log_page(self, start: int) -> bytes:
        return self._log[start : start + self._size].ljust(self._size, b"\0")

    def _records_of(self, number: int, data: bytes) -> Iterator[Record]:
        # the first page begins with the header of the file
        start = 100 if number == 1 else 0
        if data[start] not in _INDEX_PAGES:
            return
        header, offset = _INDEX_PAGES[data[start]]
        n_cells = int.from_bytes(data[start + 3 : start + 5], "big")
        for place in range(start + header, min(start + header + 2 * n_cells, self._size - 1), 2):
            cell = int.from_bytes(data[place : place + 2], "big") + offset
            # a page that was used again may be another one in the log
            for from_log in (True, False) if self._log_places else (False,):
                try:
                    yield _record(self._payload(data, cell, from_log=from_log))
                except (IndexError, ValueError):
                    continue

    def _payload(self, data: bytes, cell: int, *, from_log: bool) -> bytes:
        """The bytes of a record, with those that did not fit its page.

        Args:
            from_log: take the log's version of further pages where there is one.

        Raises:
            IndexError, ValueError: there is no record here.
        """
        size, start = _varint(data, cell)
        local = self._local(size)
        if start + local > self._usable:
            raise ValueError("a record outside its page")
        parts = [data[start : start + local]]
        missing = size - local
        following = int.from_bytes(data[start + local : start + local + 4], "big") if missing else 0
        for _ in range(_LONGEST_CHAIN):
            if missing <= 0:
                return b"".join(parts)
            page = self._page(following, from_log=from_log)
            parts.append(page[4 : min(4 + missing, self._usable)])
            missing -= len(parts[-1])
            following = int.from_bytes(page[:4], "big")
        raise ValueError("a record without an end")

    def _local(self, size: int) -> int:
        """Bytes of a payload that stand in its page (section 1.6, index pages)."""
        longest = (self._usable - 12) * 64 // 255 - 23
        if size <= longest:
            return size
        shortest = (self._usable - 12) * 32 // 255 - 23
        fitting = shortest + (size - shortest) % (self._usable - 4)
        return fitting if fitting <= longest else shortest

    def _page(self, number: int, *, from_log: bool) -> bytes:
        if from_log and number in self._log_places:
            return self._log_page(self._log_places[number])
        if not 0 < number <= -(-len(self._database) // self._size):
            raise ValueError("no such page")
        return self._database_page(number)


def _page_size(database: mmap.mmap | bytes, log: mmap.mmap | bytes) -> int:
    in_header = int.from_bytes(database[16:18], "big") if database[:16] == MAGIC else 0
    in_log = int.from_bytes(log[8:12], "big")
    for size in (65_536 if in_header == 1 else in_header, in_log):
        if 512 <= size <= 65_536 and size & (size - 1) == 0:
            return size
    return USUAL_PAGE


def _varint(data: bytes, start: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where the next thing starts."""
    value = 0
    for offset in range(8):
        byte = data[start + offset]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, start + offset + 1
    return value << 8 | data[start + 8], start + 9


def _record(payload: bytes) -> Record:
    end, place = _varint(payload, 0)
    kinds: list[int] = []
    while place < end:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    values: list[Value] = []
    for kind in kinds:
        size = _INTEGER_BYTES.get(kind, 8 if kind == 7 else (kind - 12) // 2 if kind >= 12 else 0)
        part = payload[place : place + size]
        if len(part) < size:
            raise ValueError("a value without an end")
        values.append(_value(kind, part))
        place += size
    return tuple(values)


def _value(kind: int, part: bytes) -> Value:
    """A value by its serial type; text comes as bytes."""
    if kind in _INTEGER_BYTES:
        return int.from_bytes(part, "big", signed=True)
    if kind == 7:
        (number,) = struct.unpack(">d", part)
        return float(number)
    if kind in (8, 9):
        return kind - 8
    return part if kind >= 12 else None
