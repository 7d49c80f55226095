"""results.md from the rows of results.csv."""

from collections.abc import Sequence

from fieldwork.measures import questions

LOW, HIGH = 0.93, 0.97
TITLES = {
    "studies": "Whole studies without any effect",
    "changed": "Whole studies whose model changes after the baseline",
    "corrections": "Corrections of many tests: what they find",
    "power": "What power promises, and what studies reach",
    "distance": "Distance between conditions",
    "share_who": "Share of the variance between contexts",
    "nested": "Users, and contexts of one user",
    "odd": "Few users carry the effect",
    "categories": "Variance between contexts, by category of subject",
    "run": "Scores of runs",
    "scores": "Scores and places beside reruns",
    "exact": "Estimates from the probabilities of options",
    "novelty": "New letters, from users and from reruns",
    "values": "Scales and numbers",
    "share": "Shares of single options",
    "shift": "Shifts of single options",
    "arms": "Differences and trends between conditions",
    "robustness": "Tasks put otherwise, and groups of people",
    "drift": "The same questions after a time",
    "groups": "Differences between groups of participants",
    "agreement": "Does a condition predict the field?",
    "practice": "Does the offline score predict practice?",
    "calibration": "Calibration to the field",
    "waiting": "Waiting times and prices",
}
NOTES = {
    "power": """A user's *likeness* is the correlation of answers to two prompts. It is read off many
users and set in `power.likeness`. *Without a pilot* the study does not know it and supposes 0.3; the code
before supposed 0. After a pilot its estimate is taken with one standard error more.""",
    "exact": """Six questions. There must be no interval at 10 users, nor where users are alike: the last
column of *any interval* says how often there was one. For a *width* the truth is 1, and the bias is how
much wider the interval is than that from drawn letters of the same users (a score counts one letter a
user). `share_who` and `score` keep their promise.

*(test)* is the test against a baseline that states the same twice, of one call a user. Users who
differ have the baseline's mean, and there p ≤ 0.05 is false. Of users who like letters, and where
one in eight is odd, it is power. A letter's p-value is at least the chance that so few users miss
those who make up for the difference: without that, 35 % of distances (of 20 sets) were false at 10
users and correlation 0.3. A server that leaves out the least letter of four leaves open what it may
have: tests then see little, and claim little that is false. When they took such letters as 0,
52 % of distances and 79 % of new letters were false.

`novelty` has no interval. One over users was tried, and covered 87.2 to 96.0 % on these five sources. A
letter is new as soon as one user gives it. Leaving out one of several who do moves the estimate hardly,
and leaving out the only one moves it far: so few users decide the error, too. The estimate shows no
bias.""",
}
"""What to know of a part before its table."""
COLUMNS = """| estimator | source | size | sets | truth | bias | sd | coverage | p ≤ 0.05 |
|---|---|---|---|---|---|---|---|---|"""
HEAD = """# Do the estimators keep what they promise?

{day}. Made by `make validity` ([how](run.py)) from [results.csv](results.csv), the newest lines on
{machine}; formulas in [methods.md](../../docs/methods.md).

Each line is one estimator on data sets drawn from a source whose truth is known. Measures that are
[declared](../../workflow/scripts/fieldwork/measures) all have the same [sources](sources.py), and other
estimators have [their own](populations.py). Bias is mean - truth, with its error of simulation. Coverage
is the share of the 95 % intervals that hold the truth, of those there are; it is marked **low** or
**high** where it is outside 93 to 97 % by more than two errors of simulation. The last column are false
positives at the 5 % level; where the source has an effect, it is the test's power. Where power itself is
judged, truth is the promise, and bias is what studies reach less the promise. Estimators called
*discarded* are not in Fieldwork: they show why.
"""


def page(rows: Sequence[dict[str, str]], day: str, machine: str) -> str:
    """The whole page: questions with declared measures first."""
    parts = [HEAD.format(day=day, machine=machine)]
    titles = {name: question.title for name, question in questions().items()} | TITLES
    for part, title in titles.items():
        own = [row for row in rows if row["part"] == part]
        if own:
            note = [NOTES[part], ""] if part in NOTES else []
            lines = [
                "| " + " | ".join(cells) + " |" for cells in map(_cells, sorted(own, key=_place))
            ]
            parts.append("\n".join([f"## {title}", "", *note, COLUMNS, *lines]) + "\n")
    return "\n".join(parts)


def _cells(row: dict[str, str]) -> list[str]:
    return [
        row["estimator"],
        row["source"],
        row["size"],
        row["sets"] if row["sets"] != "0" else "counted out",
        _number(row["truth"]),
        f"{_number(row['bias'])} ± {_number(row['bias_error'])}" if row["bias"] else "",
        _number(row["sd"]),
        _coverage(row),
        _share(row["false_positives"], row["false_positive_error"]),
    ]


def _place(row: dict[str, str]) -> tuple[bool, str]:
    return row["estimator"].startswith("discarded"), row["estimator"]


def _number(text: str) -> str:
    return f"{float(text):.3g}" if text else ""


def _share(share: str, error: str) -> str:
    return f"{float(share):.1%} ± {float(error):.1%}" if share else ""


def _coverage(row: dict[str, str]) -> str:
    if not row["coverage"]:
        return ""
    coverage, error = float(row["coverage"]), float(row["coverage_error"])
    few = int(row["sets"]) - int(row["n_intervals"]) if row["sets"] != "0" else 0
    told = _share(row["coverage"], row["coverage_error"])
    if coverage + 2 * error < LOW:
        told += " **low**"
    if coverage - 2 * error > HIGH:
        told += " **high**"
    return told + (f" ({few} without interval)" if few else "")
