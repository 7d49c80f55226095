"""The data dictionary, docs/data.md, generated from the row types so that it cannot become outdated.

`python -m fieldwork.dictionary docs/data.md`, run in workflow/scripts, writes it again.
"""

import dataclasses
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fieldwork import tables
from fieldwork.measures import questions
from fieldwork.records import (
    answer_form,
    arms,
    claims,
    drift,
    estimates,
    field,
    figures,
    generation,
    judging,
    memory,
    metrics,
    parsing,
    power,
    practice,
    puppets,
    robustness,
    service,
    tasks,
    values,
)
from fieldwork.records.columns import row_types_of, table_of
from fieldwork.views import VIEWS

STAGES = {
    "Puppets": puppets,
    "Tasks": tasks,
    "Memory": memory,
    "Generation": generation,
    "Answers": parsing,
    "The form of answers": answer_form,
    "Estimates": estimates,
    "Metrics": metrics,
    "Conditions side by side": arms,
    "Scales and numbers": values,
    "Tasks put otherwise": robustness,
    "The same questions after a time": drift,
    "Time and money": service,
    "Offline and practice": practice,
    "The field": field,
    "Raters": judging,
    "Claims": claims,
    "Figures": figures,
    "How large a study must be": power,
}
"""The headings of the dictionary, each with the module whose row types it lists."""


def render() -> str:
    """The whole of docs/data.md."""
    parts = [_INTRODUCTION.strip()]
    for title, stage in STAGES.items():
        parts.append(f"## {title}")
        parts += ["\n".join(_table(row_type)) for row_type in row_types_of(stage)]
        if stage is estimates:
            parts += ["\n".join(_measures()), "\n".join(_views())]
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
    fields = dataclasses.fields(row_type)
    for column, kind, nullable in zip(fields, *tables.column_kinds(row_type), strict=True):
        null = "yes" if nullable else ""
        yield f"| `{column.name}` | {kind} | {null} | {column.metadata['meaning']} |"


def _measures() -> Iterator[str]:
    """What each declared measure is, question by question."""
    yield from ("### Measures", "")
    yield from ("| measure | file | takes | meaning |", "|---|---|---|---|")
    for name, question in questions().items():
        for measure in question.measures:
            takes = "options" if measure.of == "options" else f"`{measure.of}`"
            yield f"| `{measure.name}` | {name} | {takes} | {measure.meaning} |"


def _views() -> Iterator[str]:
    """The tables of earlier versions."""
    yield from ("### Views", "")
    yield (
        "Tables of earlier versions are views of `estimates` in `study.duckdb`, so that SQL of theirs "
        "still runs; each is written as `metrics/{view}.csv`, too."
    )
    yield from ("", "| view | a row |", "|---|---|")
    for name, view in VIEWS.items():
        yield f"| `{name}` | {view.title[0].lower()}{view.title[1:]} |"


def sql_examples() -> list[str]:
    """The SQL examples of the dictionary."""
    return re.findall(r"```sql\n(.*?)```", _INTRODUCTION, re.DOTALL)


_INTRODUCTION = """
# Data

<!-- Written by workflow/scripts/fieldwork/dictionary.py; change the row types or that file. -->

Every stage of a study leaves a table in the study's folder, `results/{study}/`, where `{study}` is
`study.name`. Paths below start there. This page says what a row of each table is and what its columns
mean, and then which files you can give a study.

Tables are Parquet, compressed with zstd and sorted, so equal data gives equal bytes. The tables under
`metrics/` are written as CSV too. Times are UTC. NULL (an empty cell in CSV) means that there is no
value. Where a value could be expected, the column `reason` says why there is none. Text is UTF-8; a lone
surrogate, which JSON can carry and UTF-8 cannot, is written as U+FFFD. In CSV a text that a spreadsheet
would run as a formula, such as one that begins with `=`, has an apostrophe before it.

A [page](python.md) takes a data frame of yours to one estimate. A [notebook](notebook.ipynb)
opens the tables in Python and computes a number of figure 1 by hand;
[the same in R](r.md) opens labelled files, which SPSS and Stata open too.

## Asking questions in SQL

`study.duckdb` holds all these tables in one file. It can be moved, mailed and opened from any folder, in
DuckDB's shell or in Python:

```
python -c "import duckdb; print(duckdb.connect('results/quickstart/study.duckdb').sql('FROM ranks'))"
```

Its tables are
`conversations`, `profiles`, `items`, `contexts`, `requests`, `responses`, `answers`, `field_answers`,
`field_participants`, `answer_forms`, `estimates`, and one named after each file of `metrics/`. Tables
that a study does not need are missing, such as `conversations` in a study without histories. A table
holds the rows of all models, tasks and conditions one after another. Its additional column `file` says
which file a row is from; in `field_answers` it is the participants' file. The columns `corpus` in
`conversations`, `task` in `items`, and `task` and `condition` in `contexts` and `requests` are taken from
that path. The tables are the same whenever the same study runs again. The bytes of this one file are not,
because DuckDB writes a random identifier into each file.

The view `transcripts` has one row for each answer, with everything that belongs to it: `question`,
`context` (the messages before the question, as text), `prompt`, `answer` (the reply), `outcome`,
`reading` (the letter, or the options separated by semicolons), `reason` (why nothing could be read),
`gold`, `counts` (whether figures count the answer) and `left_out` (why they do not). Of several answers
of one user to one question, the first readable one counts. An unreadable letter counts as `unknown`, and
as wrong in scores. This query shows the answers about films that users got, each with its context:

```sql
SELECT puppet_id, context, answer, reading FROM transcripts
WHERE item_id = 'movies' AND condition = 'history' AND counts
ORDER BY puppet_id;
```

This one shows which options the answers to the prompt on movies name most often in each condition:

```sql
SELECT condition, named AS answer, count(*) AS n
FROM (SELECT condition, unnest(items) AS named FROM answers WHERE item_id = 'movies' AND is_counted)
GROUP BY ALL
ORDER BY condition, n DESC, answer;
```

This one shows what each model and condition cost, and how often there was no usable answer. A call that
two conditions share was billed once and has one `ledger_key`. It counts for the first of them by name.

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

A path in `config.yaml` is a file, a folder (all files in it) or a glob. Where a file does not fit, the
message names it. Questions, conversations and personas are described in [your own data](own_data.md).

### Leaderboards

A task's `leaderboard` is a CSV file with the columns `model` and `score`, a share from 0 to 1. Its
printed name is the column `leaderboard`, or the file's name. Other columns are ignored. Give a
leaderboard only if the task asks exactly its questions; otherwise say why there is none in
`leaderboard_note`. `models.*.leaderboard_name` is the name of a study's model in the file.

### Aliases and overrides

`parsing.aliases` is a CSV file of `task, item_id, written, canonical`: the written option counts as the
canonical one. An empty `task` or `item_id` stands for all.

`parsing.overrides` is a CSV file, or a list of them, in which a person corrects how answers are read. A
file may hold both kinds of rows:

- `task, item_id, raw, canonical` renames an option. Copy `answers/items.csv`, keep the rows you disagree
  with, and correct `canonical`.
- `task, item_id, text_sha256, reading` sets the reading of every reply of this text to this item. The
  study's page writes such rows as `corrections.csv`.

`text_sha256` is the SHA-256 of the reply as UTF-8; of a participant's answer it is that of the masked
text. `reading` has the options of a list, one a line, or the letter of a choice. An empty `reading` means
that a person finds no answer. Apostrophes that guard cells are removed. A person's names take precedence
over aliases, and both over similar spelling; they apply to a person's readings too. Rows of tasks that a
study does not select are left alone, so that several studies can share a file. A file with readings must
be UTF-8.

### Answers of real users

`field` names files (`path`) or an OSF project (`osf`) and their columns; docs/field.md explains it step
by step. CSV and TSV may be UTF-8, UTF-16 or Windows-1252, separated by comma, semicolon or tab; a file
that mixes encodings is refused. An Excel file (`.xlsx`) must have one sheet with cells, besides hidden
ones, and its answers must be text. Parquet is read too. A folder stands for all such files in it, which
are read together: a participant may be in several. The two rows that Qualtrics writes below the header
are not read as answers.

- `layout: wide` has one row for each participant; `prompts` names the column of each item. `layout: long`
  has one row for each answer; `prompts` names the value of each item in the column `prompt`, which may
  also hold item ids.
- `columns.model`, or else `columns.platform`, says which model answered, by `models`; a study of one
  model needs neither.
- `columns.groups` names the column of each variable, in these files or in separate ones.
- `columns.position` is the place of a prompt in the participant's order. In a wide file it is that order,
  as item ids or columns separated by `|` or a comma.
- A participant's repeats of a prompt are numbered as replicates in the order of files and rows.

The kept data is in `field/`. Answers that pass the checks join the other answers in `answers.parquet`,
under the condition `field`.
"""


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(), encoding="utf-8")
