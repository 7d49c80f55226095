"""The data dictionary, docs/data.md: written from the row types, so that it cannot go stale.

`python -m fieldwork.dictionary docs/data.md`, from workflow/scripts, writes it again.
"""

import dataclasses
import re
import sys
import types
import typing
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from fieldwork.records import field, generation, metrics, parsing, power, puppets, tasks
from fieldwork.records.columns import row_types_of, table_of

STAGES = {
    "Puppets": puppets,
    "Tasks": tasks,
    "Generation": generation,
    "Answers": parsing,
    "Metrics": metrics,
    "The field": field,
    "How large a study must be": power,
}
"""The headings of the dictionary, each with the module whose row types stand under it."""


def render() -> str:
    """The whole of docs/data.md."""
    parts = [_INTRODUCTION.strip()]
    for title, stage in STAGES.items():
        parts.append(f"## {title}")
        parts += ["\n".join(_table(row_type)) for row_type in row_types_of(stage)]
    return "\n\n".join([*parts, _WHAT_YOU_GIVE.strip()]) + "\n"


def _table(row_type: type[Any]) -> Iterator[str]:
    table = table_of(row_type)
    yield f"### {table.path}{' and .csv' if table.has_csv else ''}"
    yield ""
    row = (row_type.__doc__ or "").rstrip(".")
    yield f"A row: {row[0].lower()}{row[1:]}."
    yield ""
    yield "| column | type | NULL | meaning |"
    yield "|---|---|---|---|"
    hints = typing.get_type_hints(row_type)
    for column in dataclasses.fields(row_type):
        sql_type = _sql_type(hints[column.name])
        null = "yes" if _is_optional(hints[column.name]) else ""
        yield f"| `{column.name}` | {sql_type} | {null} | {column.metadata['meaning']} |"


def _is_optional(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _sql_type(hint: Any) -> str:
    names: dict[object, str] = {
        str: "VARCHAR",
        int: "BIGINT",
        float: "DOUBLE",
        bool: "BOOLEAN",
        bytes: "BLOB",
        datetime: "TIMESTAMPTZ",
    }
    if _is_optional(hint):
        return _sql_type(next(a for a in typing.get_args(hint) if a is not type(None)))
    if typing.get_origin(hint) is typing.Literal:
        return "VARCHAR"
    if typing.get_origin(hint) is list:
        (inner,) = typing.get_args(hint)
        return "FLOAT[]" if inner is float else f"{_sql_type(inner)}[]"
    if dataclasses.is_dataclass(hint):
        inner_hints = typing.get_type_hints(hint)
        fields = ", ".join(f"{name} {_sql_type(kind)}" for name, kind in inner_hints.items())
        return f"STRUCT({fields})"
    return names[hint]


def sql_examples() -> list[str]:
    """The queries that the dictionary shows."""
    return re.findall(r"```sql\n(.*?)```", _INTRODUCTION, re.DOTALL)


_INTRODUCTION = """
# Data

<!-- Written by workflow/scripts/fieldwork/dictionary.py; change the row types or that file. -->

Every stage of a study leaves a table in the study's folder, `results/{study}/`, where `{study}` is
`study.name`. Paths below start there. This page says what a row of each table is and what its columns
mean, and then which files you can give a study.

Tables are Parquet, compressed with zstd and sorted, so equal data gives equal bytes. The tables under
`metrics/` are there as CSV too. Times are UTC. NULL (an empty cell in CSV) means that there is no
value; where a value could have been expected, the column `reason` says why there is none. Text is
UTF-8; a lone surrogate, which JSON can carry and UTF-8 cannot, is written as U+FFFD. In CSV a text that a
spreadsheet would run as a formula, such as one that begins with `=`, has an apostrophe before it.

## Asking questions in SQL

`study.duckdb` holds all these tables in one file, which can be moved, mailed and opened from any folder,
in DuckDB's own shell or in Python:

```
python -c "import duckdb; print(duckdb.connect('results/quickstart/study.duckdb').sql('FROM ranks'))"
```

Its tables are
`conversations`, `profiles`, `items`, `contexts`, `requests`, `responses`, `answers`, `field_answers`,
`field_participants`, and one named after each file of `metrics/`. Those that a study does not need
(`conversations` without histories, say) are missing. A table holds the rows of all models, tasks and
conditions one after another. Its additional column `file` says which file a row is from (in
`field_answers` it is the participants' file); `corpus` in `conversations`, `task` in `items`, and
`task` and `condition` in `contexts` and `requests` are read off that path. The tables are the same
whenever the same study runs again, but the bytes of this one file are not: DuckDB writes a random
identifier into each.

The view `transcripts` has one row for each answer, with all that belongs to it: `question`, `context`
(what was put before the question, as text), `prompt`, `answer` (the reply), `outcome`, `reading` (the
letter, or the options separated by semicolons), `reason` (why nothing could be read), `gold`, `counts`
(whether the figures count it) and `left_out` (why not). Of several answers of one user to one question
the first that can be read counts. An unreadable letter counts as `unknown`, and as wrong in scores.
What a user was told about films, and what came before it:

```sql
SELECT puppet_id, context, answer, reading FROM transcripts
WHERE item_id = 'movies' AND condition = 'history' AND counts
ORDER BY puppet_id;
```

Which options the answers to the prompt on movies name most often, under each condition:

```sql
SELECT condition, named AS answer, count(*) AS n
FROM (SELECT condition, unnest(items) AS named FROM answers WHERE item_id = 'movies')
GROUP BY ALL
ORDER BY condition, n DESC, answer;
```

What each model and condition cost, and how often there was no usable answer. A call that two conditions
share was billed once and has one `ledger_key`: it is counted under the first of them by name.

```sql
SELECT model, condition,
       sum(cost_usd) FILTER (nth = 1) AS usd, sum(input_tokens) FILTER (nth = 1) AS input_tokens,
       avg(CASE WHEN outcome = 'ok' THEN 0 ELSE 1 END) AS share_not_ok
FROM (SELECT *, row_number() OVER (PARTITION BY model, ledger_key ORDER BY condition, task) AS nth
      FROM responses)
GROUP BY ALL
ORDER BY model, condition;
```
"""

_WHAT_YOU_GIVE = """
## What you can give a study

A path in `config.yaml` is a file, a folder (all files in it) or a glob. Every file is named in the
message when it does not fit. Questions, conversations and personas: [your own data](own_data.md).

### Leaderboards

A task's `leaderboard` is a CSV file with the columns `model` and `score`, a share of 1. The name that is
printed is its column `leaderboard`, or the file's name. Other columns are ignored. Give one only where
the task asks the very questions of the leaderboard; otherwise say why not in `leaderboard_note`.
`models.*.leaderboard_name` is what a model of the study is called in the file.

### Aliases and overrides

`parsing.aliases` is a CSV file of `task, item_id, written, canonical`: the written option is counted
as the canonical one. An empty `task` or `item_id` holds for all. `parsing.overrides` has the columns
of `answers/items.csv`; copy that file, keep the rows you disagree with, correct `canonical`. Apostrophes
that guard cells there are taken off.
Overrides win over aliases, and both over likeness of spelling.

### Answers of real users

`field` names files (`path`) or an OSF project (`osf`) and what their columns are; docs/field.md walks
through it. CSV and TSV may be UTF-8, UTF-16 or Windows-1252, separated by comma, semicolon or tab; a
file that mixes encodings is refused. Of Excel (`.xlsx`) there must be one sheet with cells, and answers
in it must be text. Parquet is read too. A folder is all such files in it, read together: a participant
may be in several. The two rows that Qualtrics puts below the header are no answers.

- `layout: wide` is a row a participant; `prompts` gives each item its column. `layout: long` is a row an
  answer; `prompts` gives each item its value in the column `prompt`, which may also hold item ids.
- `columns.model`, or else `columns.platform`, says which model answered, by `models`; a study of one
  model needs neither.
- `columns.groups` gives each variable its column, in these files or one of their own.
- `columns.position` is the place in the participant's order of prompts; in a wide file that order, as
  item ids or columns with `|` or a comma between them.
- A participant's repeats of a prompt are numbered as replicates in the order of files and rows.

What is kept of it is in `field/`; answers that pass the checks join the others in
`answers.parquet` under the condition `field`.
"""


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(), encoding="utf-8")
