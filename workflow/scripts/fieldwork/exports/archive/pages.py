"""What an archive says of itself: its README, its lists, the prompts, and the record for machines."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fieldwork import tables
from fieldwork.exports.archive.code import CodeVersion
from fieldwork.exports.archive.contents import LEDGERS, SETTINGS, TABLES, ArchivePlan
from fieldwork.exports.croissant import StudyLabel, croissant
from fieldwork.markdown_text import literal
from fieldwork.records.tasks import Item

FORMAT = "fieldwork-archive-1"
RECORD = "archive.json"


def write_lists(folder: Path, plan: ArchivePlan) -> None:
    """Write what is left out, under which licences the rest is, and the prompts."""
    tables.write_csv_tuples(folder / "left_out.csv", ("what", "why", "instead"), plan.left_out)
    names = ("source", "use", "origin", "license", "texts", "why")
    rows = [
        (
            *(s["setting"], ", ".join(s["uses"]), s["origin"]),
            *(s["license"], _yes_no(s["is_open"]), s["reason"]),
        )
        for s in plan.sources
    ]
    study = ("this study", "tables, figures, answers", "its authors", plan.license, "yes", None)
    code = ("Fieldwork", "code and templates", "code/LICENSE", "MIT", "yes", None)
    tables.write_csv_tuples(folder / "licences.csv", names, [study, code, *rows])
    header = ("task", "item_id", "kind", "prompt", "choices", "gold")
    tables.write_csv_tuples(folder / "prompts.csv", header, _prompts(plan))


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"


def _prompts(plan: ArchivePlan) -> Iterator[Sequence[Any]]:
    for path in plan.prompts:
        for item in tables.read_rows(Path(plan.results) / path, Item):
            choices = json.dumps(item.choices, ensure_ascii=False)
            yield Path(path).stem, item.item_id, item.kind, item.prompt, choices, item.gold


def write_record(folder: Path, plan: ArchivePlan, code: CodeVersion) -> None:
    """Write what `make rebuild` reads, and the description in Croissant."""
    label = StudyLabel(plan.study, code.release, None, plan.license)
    page = croissant(folder, label, (TABLES, plan.results))
    tables.write_text(folder / "croissant.json", _json(page))
    record = {
        "format": FORMAT,
        "study": plan.study,
        "code": code._asdict(),
        "settings": SETTINGS,
        "is_whole": plan.is_whole,
        "remade": {f"{TABLES}/{path}": f"{plan.results}/{path}" for path in plan.remade}
        | ({"findings.md": f"{plan.results}/findings.md"} if plan.is_whole else {}),
    }
    tables.write_text(folder / RECORD, _json(record))


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def write_readme(folder: Path, plan: ArchivePlan, code: CodeVersion) -> None:
    """Write the README, which a person opens first."""
    parts = [
        _HEAD,
        _contents(folder),
        _left_out(plan),
        _rebuild(plan),
        _from_texts(plan),
        _LICENCES,
    ]
    words = {
        "study": plan.study,
        "code": code.sentence(),
        "results": plan.results,
        "license": literal(plan.license or "")
        or "no licence was chosen, so ask the authors before you use them",
    }
    text = "\n".join(part.strip() + "\n" for part in parts if part)
    for name, value in words.items():
        text = text.replace(f"<{name}>", value)
    tables.write_text(folder / "README.md", text)


_HEAD = """
# The study <study>

This folder is a finished study as one archive. <code> made it, a workflow that measures what language
models do for their users. `findings.md` says what was found; begin there.
"""

_PLACES = {
    "findings.md": "what was found, in words and tables",
    "explorer/index.html": "the study's page: figures, and the answers behind each mark",
    "figures": "the figures as PDF, SVG and PNG",
    "tables": "the tables, as Parquet and CSV; `code/docs/data.md` says how to see what columns mean",
    "prompts.csv": "every question, word for word",
    "study.yaml": "all settings",
    "inputs": "files of the study that lay outside of its folder, by the setting that names them",
    "resources/preregistration": "what was announced before anything was asked",
    "<results>": "the tables that others begin with: questions, contexts and answers",
    LEDGERS: "the raw replies of the models, those of this study alone",
    "provenance/versions.csv": "the versions of Python and of every package",
    "code": "the code, with its licence; `code/requirements.txt` pins every package",
    "licences.csv": "where texts come from, and under which licence",
    "left_out.csv": "what is not here, why, and what to do instead",
    "croissant.json": "the tables for machines, in Croissant 1.1",
    "archive.json": "what `make rebuild` reads",
    "checksums.sha256": "a checksum of every file: `sha256sum --check --quiet checksums.sha256`",
}


def _contents(folder: Path) -> str:
    results = next((folder / "results").iterdir(), None) if (folder / "results").is_dir() else None
    rows = []
    for place, meaning in _PLACES.items():
        path = results if place == "<results>" else folder / place
        # written after this page
        if place == "checksums.sha256" or (path is not None and path.exists()):
            rows.append(f"| `{place}` | {meaning} |")
    return "\n".join(["## What is here", "", "| place | what it holds |", "|---|---|", *rows])


def _left_out(plan: ArchivePlan) -> str:
    lines = ["- {}: {}. Instead: {}.".format(*entry) for entry in plan.left_out]
    return "\n".join(["## What is not here", "", *lines])


def _rebuild(plan: ArchivePlan) -> str:
    if plan.is_whole:
        return _REBUILD
    return _REBUILD + _NOT_WHOLE


_REBUILD = """
## How to make every table again

You need Python 3.11 or newer and make. No model is asked, so no key is needed and nothing is paid.

```
cd code
make rebuild
```

It compares every file with its checksum, installs what is needed into `code/.venv`, makes the tables
again from the answers, and says which of them are the same, byte for byte. Tables come to `<results>/`,
and are compared with those in `tables/`. `make rebuild WHAT=all` makes the figures, the page and
`study.duckdb` too.
"""

_NOT_WHOLE = """
Some answers or questions are not in this archive. So only the corrected tests (`metrics/claims`) are
made again, from the tables of estimates as they were computed, and `WHAT=all` makes nothing.
"""


def _from_texts(plan: ArchivePlan) -> str:
    # estimates over real users come from answers that nobody gets
    if plan.of_models_alone:
        return ""
    has_field = any(path.startswith("field/") for path in plan.first_tables)
    return _FROM_TEXTS.replace("<exception>", _FIELD_EXCEPTION if has_field else "")


_FROM_TEXTS = """
## To begin with the texts

The step above begins with contexts and answers. Who has the texts that `left_out.csv` names can begin
before: put them where `study.yaml` has their paths, delete `<results>/`<exception>, and run
`make rebuild` again. The workflow fetches what it can from the hub, in the same revision. Each context
that comes out the same finds its answers in `resources/ledger/`. One that differs ends the run with a
sentence, as a study from an archive asks no model. A model's variable for a key must be set then, to
any text.
"""

_FIELD_EXCEPTION = " but for `<results>/field/`, as raw answers of real users are not here"

_LICENCES = """
## Licences

Tables, figures and answers: <license>. The code is under the MIT licence. Texts of others keep their
own licences, which `licences.csv` lists.
"""
