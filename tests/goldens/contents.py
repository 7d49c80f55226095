"""What a study made, as rows of text that are the same on every machine, and how two makings differ.

Numbers have nine significant digits, as the last of sixteen depend on processor and library. Pictures
are left out, since the tables of their marks say what they show, and so is what names versions of
packages and the code.
"""

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pyreadstat

LEFT_OUT = ("provenance/", "logs/", "report.zip", "study.duckdb")
PICTURES = (".pdf", ".png", ".svg")
TEXTS = (".md", ".csv", ".jsonl", ".json", ".yaml", ".txt", ".html", ".js")
STATISTICS_FILES = {".sav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta}
NOT_COMPARED = ("sha256", "checksum", "contentSize", "retrieved_timestamp", "evaluation_id")
"""What data say of the bytes of files, and of the time of an export whose answers have none."""
DIGITS = 9
NOTHING_LESS_THAN = 1e-12

Row = tuple[str, ...]


class Contents(NamedTuple):
    """A file as rows: of a table its rows, of a text its lines.

    Attributes:
        columns: names of the cells of a row, empty of a text.
    """

    columns: Row
    rows: Sequence[Row]

    @property
    def digest(self) -> str:
        """SHA-256 of columns and rows in their order."""
        text = json.dumps([self.columns, *self.rows], ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def files_of(results: Path) -> list[str]:
    """Paths of what a study made, relative to its results, without twins of Parquet files."""
    names = sorted(
        path.relative_to(results).as_posix() for path in results.rglob("*") if path.is_file()
    )
    tables = {name.removesuffix(".parquet") for name in names if name.endswith(".parquet")}
    return [
        name
        for name in names
        if not name.startswith(LEFT_OUT)
        and not name.endswith(PICTURES)
        and not Path(name).name.startswith(".")
        and not (name.endswith(".csv") and name.removesuffix(".csv") in tables)
    ]


def read_contents(path: Path) -> Contents:
    """The rows of a table, or the lines of a text; of another file the digest of its bytes."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        names = tuple(table.column_names)
        return Contents(names, [_cells(row.values()) for row in table.to_pylist()])
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = [tuple(row) for row in csv.reader(file)] or [()]
        return Contents(header, [_cells(map(_parsed, row)) for row in rows])
    if path.suffix in STATISTICS_FILES:
        frame, _ = STATISTICS_FILES[path.suffix](path)
        return Contents(tuple(frame.columns), [_cells(row) for row in frame.values.tolist()])
    if path.suffix in TEXTS:
        text = path.read_text(encoding="utf-8")
        data = _json_of(text, path)
        return Contents((), [(line,) for line in (text if data is None else data).splitlines()])
    return Contents((), [(hashlib.sha256(path.read_bytes()).hexdigest(),)])


def _json_of(text: str, path: Path) -> str | None:
    """The data in a file as JSON, a value a line; None of a text without any."""
    if path.suffix == ".jsonl":
        values = [json.loads(line) for line in text.splitlines()]
        return "\n".join(json.dumps(_rounded(value), ensure_ascii=False) for value in values)
    if path.name == "index.html":
        # what the study's page shows, without its pictures and scripts
        data = text.partition('<script type="application/json" id="study">')[2]
        text = data.partition("</script>")[0]
    elif path.suffix == ".js":
        text = text.partition(",")[2].strip().removesuffix(")")
    elif path.suffix != ".json":
        return None
    return json.dumps(_rounded(json.loads(text)), indent=0, ensure_ascii=False)


def _cells(values: Any) -> Row:
    return tuple(_cell(value) for value in values)


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(_rounded(value), ensure_ascii=False, default=str)


def _parsed(text: str) -> Any:
    """A cell of a CSV file: a number where it is a fraction, since its last digits may differ."""
    try:
        return float(text) if "." in text or "e" in text else text
    except ValueError:
        return text


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return 0.0 if abs(value) < NOTHING_LESS_THAN else float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {
            str(name): _rounded(part) for name, part in value.items() if name not in NOT_COMPARED
        }
    if isinstance(value, (list, tuple)):
        return [_rounded(part) for part in value]
    return value


# ---- two makings -------------------------------------------------------------------------------------


def differences(old: Contents, new: Contents) -> Iterator[str]:
    """A line for each row that differs: its place and names, and cell by cell old → new."""
    if old.columns != new.columns:
        gone = [name for name in old.columns if name not in new.columns]
        added = [name for name in new.columns if name not in old.columns]
        yield f"columns: gone {gone}, new {added}"
    shared_columns = [name for name in new.columns if name in old.columns]
    for place, (before, after) in enumerate(_aligned(old, new, shared_columns), 1):
        if before is None:
            yield f"row {place} is new: {', '.join(after or ())}"
        elif after is None:
            yield f"row {place} is gone: {', '.join(before)}"
        elif before != after and not shared_columns:
            yield f"line {place}: {', '.join(before)} → {', '.join(after)}"
        elif before != after:
            names = [cell for cell in after if not _is_number(cell)][:8]
            cells = [
                f"{name} {one} → {other}"
                for name, one, other in zip(shared_columns, before, after, strict=True)
                if one != other
            ]
            yield f"row {place} ({', '.join(names)}): {'; '.join(cells)}"


def _aligned(
    old: Contents, new: Contents, shared_columns: Sequence[str]
) -> Iterator[tuple[Row | None, Row | None]]:
    """Rows with the same names beside each other; where names come twice, in their order."""
    if not shared_columns:
        yield from zip_longest(old.rows, new.rows)
        return
    sides: list[dict[tuple[Row, int], Row]] = []
    for side in (old, new):
        places = [side.columns.index(name) for name in shared_columns]
        named: dict[tuple[Row, int], Row] = {}
        counts: dict[Row, int] = {}
        for row in side.rows:
            cells = tuple(row[place] for place in places)
            name = tuple(cell for cell in cells if not _is_number(cell))
            counts[name] = counts.get(name, 0) + 1
            named[name, counts[name]] = cells
        sides.append(named)
    before, after = sides
    for key in dict.fromkeys([*before, *after]):
        yield before.get(key), after.get(key)


def _is_number(cell: str) -> bool:
    """Whether a cell is a value rather than a name."""
    return cell in ("null", "true", "false") or cell[:1] in "-0123456789[{"
