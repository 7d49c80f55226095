"""What was measured, run by run, and the medians of it."""

import math
import statistics
from typing import NamedTuple

FIELDWORK = "fieldwork"


PEERS = ("polars", "pandas", "datasets")


LABELS = {FIELDWORK: "Fieldwork", **{name: name for name in PEERS}}


AGAIN = "again: generate_responses"


STEPS = (
    "plan_requests",
    "generate_responses",
    AGAIN,
    "parse_answers",
    "canonicalise_answers",
    "measure_lists",
    "measure_comparisons",
    "measure_variance",
    "measure_distributions",
    "measure_accuracy",
    "measure_form",
    "measure_scores",
    "measure_shifts",
    "measure_rarefaction",
    "measure_claims",
    "plot_figures",
)


# A step this short is mostly its start, which does not grow.
SHORT_S = 0.5


REAL_BYTES = 3.4e9 / 838_000  # WildChat-1M: 838,000 conversations in 3.4 GB


class Row(NamedTuple):
    """One line of `results.csv`: a run, or words.

    Attributes:
        what: the corpus step, contexts, or a step of the study.
        n: conversations, or the scale of the study.
        turn: which round.
        seconds: without starting the tool.
        cpu_s: processor seconds over all cores, starting the tool included.
        private_mib: peak of what the processes held themselves.
        resident_mib: the same, with pages of mapped files.
        n_bytes: what was written, work files that stay included.
        kept: rows written (requests, for a step of the study).
        note: words, or why there are no numbers.
    """

    what: str
    tool: str
    n: int
    turn: int
    seconds: float | None
    cpu_s: float | None
    private_mib: float | None
    resident_mib: float | None
    n_bytes: int
    kept: int
    note: str


def note_row(what: str, tool: str, note: str) -> Row:
    """A row that holds words."""
    return Row(what, tool, 0, 0, None, None, None, None, 0, 0, note)


class Results:
    """Rows by what was measured, tool and size."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows

    def runs(self, what: str, tool: str, n: int) -> list[Row]:
        """The rounds of a measurement."""
        return [r for r in self.rows if (r.what, r.tool, r.n) == (what, tool, n) and not r.note]

    def cell(self, what: str, tool: str, n: int) -> Row | None:
        """The medians of the rounds, bytes and rows of the last; None where there are none."""
        runs = self.runs(what, tool, n)
        medians = {
            name: statistics.median(getattr(run, name) or 0.0 for run in runs)
            for name in ("seconds", "cpu_s", "private_mib", "resident_mib")
            if runs
        }
        return runs[-1]._replace(**medians) if runs else None

    def sizes(self, what: str) -> list[int]:
        """Sizes at which something was tried, ascending."""
        return sorted({row.n for row in self.rows if row.what == what})

    def note(self, what: str, tool: str = "", n: int = 0) -> str:
        """A row's words; empty where there are none."""
        found = (r.note for r in self.rows if (r.what, r.tool, r.n) == (what, tool, n) and r.note)
        return next(found, "")

    def exponent(self, what: str, tool: str = FIELDWORK) -> float | None:
        """The power of n with which processor time grew over the last step in size."""
        cells = [(n, c) for n in self.sizes(what) if (c := self.cell(what, tool, n))]
        if len(cells) < 2:
            return None
        (n0, before), (n1, after) = cells[-2:]
        return math.log(after.cpu_s / before.cpu_s) / math.log(n1 / n0)
