"""The codebook of an export: what each variable is called, means and holds, as JSON and as a page."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from fieldwork.exports.code_sets import CodeSet
from fieldwork.exports.variables import Variable

JsonObject = dict[str, Any]

_MOST_VALUES_SHOWN = 30
_KINDS = {
    "code": "codes",
    "yes_no": "0 no, 1 yes",
    "number": "number",
    "time": "date and time, UTC",
    "text": "text",
}
_NOTES = (
    "CSV files hold the values; .sav and .dta files hold their codes, with labels. An empty cell, a "
    "missing number and an empty text mean that there is no value.",
    "Codes are the same in all files of this export, and not in those of another one: compare by label.",
    "In CSV a text that a spreadsheet would run as a formula has an apostrophe before it.",
)
_STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem; }
caption { text-align: left; }
th, td { border-bottom: 1px solid #ccc; padding: .3rem .6rem; text-align: left; vertical-align: top; }
td.number { text-align: right; }
code { font-size: .95em; }
"""


class CodebookHead(NamedTuple):
    """What a codebook says of the export itself; `version` is that of this project."""

    study: str
    version: str


class TableEntry(NamedTuple):
    """A table in the codebook.

    Attributes:
        about: what a row is.
        files: names of its files.
        notes: sentences on what is left out of them.
        variables: from `variable_entry`.
    """

    name: str
    about: str
    files: Sequence[str]
    n_rows: int
    notes: Sequence[str]
    variables: Sequence[JsonObject]


def variable_entry(variable: Variable, values: Sequence[Any]) -> JsonObject:
    """What the codebook says of a variable.

    Args:
        values: of all rows, None where there is none.
    """
    known_values = [value for value in values if value is not None]
    entry: JsonObject = {
        "name": variable.name,
        "column": variable.column,
        "label": variable.label,
        "kind": variable.kind,
        "codes": variable.code_set,
        "n_missing": len(values) - len(known_values),
        "missing_share": 1 - len(known_values) / len(values) if values else None,
        "n_distinct": len(set(known_values)),
    }
    if variable.kind in ("number", "time") and known_values:
        lowest, highest = min(known_values), max(known_values)
        is_time = variable.kind == "time"
        entry |= {
            "minimum": lowest.isoformat() if is_time else lowest,
            "maximum": highest.isoformat() if is_time else highest,
        }
    return entry


def codebook(
    head: CodebookHead, entries: Iterable[TableEntry], code_sets: Mapping[str, CodeSet]
) -> JsonObject:
    """The whole codebook, as JSON holds it."""
    return {
        "study": head.study,
        "made_by": f"Fieldwork {head.version}",
        "notes": list(_NOTES),
        "tables": [entry._asdict() for entry in entries],
        "codes": {
            name: [
                {"code": code, "value": value, "label": label}
                for code, (value, label) in enumerate(zip(*codes, strict=True), 1)
            ]
            for name, codes in code_sets.items()
        },
        "n_short_labels": {name: codes.n_cut() for name, codes in code_sets.items()},
    }


def render(book: JsonObject) -> str:
    """The codebook as one page that needs nothing else."""
    title = f"Codebook of the study {escape(book['study'])}"
    parts = [
        f"<h1>{title}</h1>",
        f"<p>Made by {escape(book['made_by'])}. codebook.json beside this page holds the same.</p>",
        "<ul>" + "".join(f"<li>{_prose(note)}</li>" for note in book["notes"]) + "</ul>",
        "<h2>Tables</h2><ul>",
        *(
            f'<li><a href="#{t["name"]}">{t["name"]}</a>: {_prose(t["about"])}</li>'
            for t in book["tables"]
        ),
        "</ul>",
        *(part for table in book["tables"] for part in _table_section(table)),
        "<h2>Codes</h2>",
        *(
            _code_table(name, codes, book["n_short_labels"][name])
            for name, codes in book["codes"].items()
        ),
    ]
    head = f'<meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n'
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _table_section(table: JsonObject) -> Iterable[str]:
    yield f'<h2 id="{table["name"]}">{table["name"]}</h2>'
    files = ", ".join(f"<code>{escape(name)}</code>" for name in table["files"])
    yield f"<p>A row: {_prose(table['about'])} {table['n_rows']:,} rows. Files: {files}.</p>"
    yield from (f"<p>{_prose(note)}</p>" for note in table["notes"])
    heads = ("variable", "column", "meaning", "kind", "missing", "distinct", "range")
    yield _html_table(heads, map(_variable_cells, table["variables"]))


def _variable_cells(entry: JsonObject) -> Sequence[str]:
    kind = _KINDS[entry["kind"]]
    if entry["codes"]:
        kind = f'<a href="#codes_{entry["codes"]}">{kind}</a>'
    share = entry["missing_share"]
    scope = (
        f"{_number(entry['minimum'])} to {_number(entry['maximum'])}" if "minimum" in entry else ""
    )
    cut = f" ({entry['n_cut']:,} cut in .sav)" if entry.get("n_cut") else ""
    if entry.get("n_with_nul"):
        cut += f" ({entry['n_with_nul']:,} with � for NUL in .sav and .dta)"
    return (
        f"<code>{escape(entry['name'])}</code>",
        f"<code>{escape(entry['column'])}</code>",
        _prose(entry["label"]),
        kind + cut,
        "" if share is None else f"{share:.1%}",
        f"{entry['n_distinct']:,}",
        scope,
    )


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else escape(str(value))


def _code_table(name: str, codes: Sequence[JsonObject], n_short: int) -> str:
    rows = [(str(c["code"]), escape(c["value"]), escape(c["label"])) for c in codes]
    table = _html_table(("code", "value", "label"), rows)
    heading = f'<h3 id="codes_{name}">{name}</h3>'
    if n_short:
        heading += f"<p>Labels that .sav and .dta files do not show whole: {n_short:,}.</p>"
    if len(rows) <= _MOST_VALUES_SHOWN:
        return heading + table
    return f"{heading}<details><summary>{len(rows):,} values</summary>{table}</details>"


def _html_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _prose(text: str) -> str:
    """A sentence of the data dictionary, with its marks of code."""
    parts = escape(text).split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return "".join(f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts))
