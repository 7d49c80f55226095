"""`make bench-explorer`: how fast the page of a large study opens and filters, from a file.

The study is invented, a hundred thousand answers; the page is the workflow's own. What was measured goes
to `results.csv`, and from there to `results.md`. About three minutes on two cores.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

import invented
import machine
from command_line import Option, read_options
from measuring import measure
from result_rows import write_rows

import browser
import report
from report import Row, row_of

HERE = Path(__file__).parent
WORK = HERE.parent / ".work" / "explorer"
LIMIT_S = 900.0
MIB = 2**20

OPENINGS = {
    "open the page, until answers are loaded": "",
    "open it at the list of answers": "#/answers?model=alpha&condition=history",
    "open it at one answer": "#/answer?model=beta&task=letters&condition=offline&item=choice-00"
    "&replicate=0",
}
FILTERS = {
    "answers: all": "#/answers",
    "answers: one condition": "#/answers?condition=history",
    "answers: one question, first of each user": "#/answers?task=letters&item=choice-07&base=first",
    "answers: a letter": "#/answers?task=letters&option=B&base=counted",
    "answers: an option of a list": "#/answers?task=lists&item=list-03&option={option}",
    "answers: any doubt": "#/answers?doubt=any",
    "a question": "#/question?task=lists&item=list-03",
    "a question with letters": "#/question?task=letters&item=choice-07",
    "two conditions compared": "#/compare?task=lists&item=list-03&condition=offline&other=history",
    "a user": "#/user?puppet=user-000007",
    "doubtful answers": "#/doubtful?doubt=merged",
}


def written_page() -> Iterator[Row]:
    """Write the page in a process of its own; its time, memory and sizes."""
    result, log = WORK / "seconds.txt", WORK / "write.log"
    command = [sys.executable, HERE / "clients" / "write_page.py", WORK, result]
    seen = measure(command, environment=os.environ, log=log, limit_s=LIMIT_S)
    if seen.failure:
        raise SystemExit(f"the page: {seen.failure}, {log}")
    yield row_of("write", "time to write it", "s", [float(result.read_text(encoding="utf-8"))])
    yield row_of("write", "memory to write it", "MiB", [seen.private_mib])
    files = [path for path in (WORK / "page").rglob("*") if path.is_file()]
    first = [WORK / "page" / "index.html", WORK / "page" / "data" / "answers.js"]
    for name, paths in (("size of all files", files), ("of these loaded at once", first)):
        yield row_of("size", name, "MiB", [sum(path.stat().st_size for path in paths) / MIB])


def times(rounds: int) -> Iterator[Row]:
    """Openings, each in a new window without caches, and changes of the address in one window."""
    page_folder = WORK / "page"
    with browser.chromium() as chromium:
        yield Row("run", "browser", "", 0, None, None, None, f"Chromium {chromium.version}")
        for name, address in OPENINGS.items():
            values = []
            for _ in range(rounds):
                page, seconds = browser.open_page(chromium, page_folder, address)
                values.append(seconds)
                page.context.close()
            yield row_of("open", name, "s", values)
        page, _ = browser.open_page(chromium, page_folder)
        option = invented.commonest_option("list-03")
        by_name: dict[str, list[float]] = {name: [] for name in FILTERS}
        for _ in range(rounds):
            for name, address in FILTERS.items():
                by_name[name].append(browser.follow(page, address.format(option=option)))
        yield from (row_of("filter", name, "s", values) for name, values in by_name.items())


def main() -> None:
    """Make the study, open its page, write the results."""
    asked = read_options(
        __doc__,
        HERE,
        answers=100_000,
        rounds=7,
        note=Option("", "what a reader must know of this run"),
    )
    shutil.rmtree(WORK, ignore_errors=True)
    facts = {"day": asked.day, **machine.facts(), "note": asked.note}
    rows = [Row("run", name, "", 0, None, None, None, note) for name, note in facts.items() if note]
    try:
        tables = invented.make_tables(WORK / "tables", asked.answers)
        rows.append(row_of("size", "answers", "", [float(invented.count_answers(tables))]))
        rows += written_page()
        rows += times(asked.rounds)
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    write_rows(asked.out, rows)
    report.render(asked.out)
    print((asked.out / "results.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
