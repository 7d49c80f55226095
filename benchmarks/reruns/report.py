"""The page and the table of what reruns alone do: `results.md` from `results.csv`."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """One number: what it is of, which measure, from how many, its value and interval or range."""

    part: str
    name: str
    measure: str
    n: int
    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""


TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "runs": (
        "GPT-4o, five runs: scores",
        ("em_strict", "em_flexible", "format_failure", "sd", "sd from single answers"),
    ),
    "flips": (
        "GPT-4o, five runs: single answers",
        ("questions that change", "two runs differ", "rerun variance"),
    ),
    "new": (
        "New letters: questions to which fresh answers give a letter that the runs before never gave",
        ("1 against 1", "2 against 2", "10 against 10"),
    ),
    "places": (
        "GPT-4o's five runs on HELM MMLU's list of the subject",
        ("em_flexible", "place", "chance of another place"),
    ),
    "published": (
        "HELM's raw completions through our reading",
        ("subjects equal to the published score", "largest difference"),
    ),
    "five": (
        "Five HELM models, if each were run again",
        ("score sd", "order changes", "first changes", "pairs that turn"),
    ),
    "list": (
        "Whole leaderboards, if every model were run again",
        (
            "score sd", "place changes", "place changes, first five", "places moved",
            "places moved, first five", "first changes", "first five change", "pairs that turn",
            "pairs that turn, closed form",
        ),
    ),
}  # fmt: skip

HEAD = """# What reruns alone do

{day}. Made by `make reruns` ([how](run.py)) from [results.csv](results.csv).

{made}

**How to use it.** {use}

![Reruns of GPT-4o, and what their noise would do to HELM Lite](reruns.png)

{caption}
"""

MADE = """The data are public extracts, no part of this repository: answers of GPT-4o to 657 MMLU
questions, five runs at temperature 0 (llm-stability, Apache-2.0), raw completions of five models on
nine subjects (HELM, by way of MMLU-Redux, CC-BY-4.0), and the leaderboards HELM Lite and HELM MMLU
v1.13.0. They go through the parser and the metrics of a study ([methods](../../docs/methods.md)).
{versions}."""

CAPTION = """*Left: each of five runs, less their mean; the bar is ± 1.96 standard deviations as computed
from how often single answers change. Right: the chance that a model of HELM Lite takes another place when
all are run again, by its place, at the noise of GPT-4o (line) and of its steadiest and least steady
subject (band).*"""

LIMITS = (
    """Every model gets GPT-4o's rerun noise: {noise}. A steadier model moves less. Temperature 0 and a
    fixed seed do not make GPT-4o's answers repeat; at temperature 1 they would repeat less.""",
    """Ten reruns against ten are a projection from five at temperature 0: at temperature 1 more letters
    would be new. On simulated mixtures of 657 questions it was off by 0.03 to 0.05.""",
    """Questions change independently of each other within a run. The runs do not contradict it: the
    standard deviation of five runs is what single answers predict, within its interval (wide, at four
    degrees of freedom).""",
    """The published score is taken as the one that a model's runs scatter about. It is one run itself,
    so that models seem further apart than they are, and true changes of place are a little more
    frequent.""",
    """GPT-4o was asked with worked examples and for JSON, so that HELM's strict reading finds no letter
    in any answer: the strict score is 0 by construction, and the flexible one is used. HELM asked for one
    token. The places of GPT-4o's runs on HELM's lists show how far reruns move a place, not where GPT-4o
    belongs.""",
    """Four subjects are few: the noise of one is {ratio:.0f} times that of another, which the band of the
    figure shows.""",
    """Reruns do not hold what a user changes. They are what must be subtracted before a change is a
    user's.""",
)


def page(rows: Sequence[Row]) -> str:
    """The whole page; the rows of the part `about` say day and versions."""
    about = {row.name: row.note for row in rows if row.part == "about"}
    told = {(row.part, row.name, row.measure): row for row in rows}
    head = HEAD.format(
        day=about["day"],
        made=_filled(MADE.format(versions=about["versions"])),
        use=_filled(_use(told)),
        caption=_filled(CAPTION),
    )
    tables = ["\n".join(_table(rows, part)) + "\n" for part in TABLES]
    variances = [
        row.value for row in rows if (row.part, row.measure) == ("flips", "rerun variance")
    ]
    ratio = max(variances) / min(variances)
    limits = [_filled(text.format(noise=_noise(told), ratio=ratio), "- ") for text in LIMITS]
    return "\n".join([head, *tables, "## Assumptions and limits\n", *limits]) + "\n"


def _filled(text: str, bullet: str = "") -> str:
    words = " ".join(text.split())
    return textwrap.fill(
        words, 110, initial_indent=bullet, subsequent_indent=" " * len(bullet),
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip


def _noise(told: dict[tuple[str, str, str], Row]) -> str:
    row = told["flips", "all four subjects", "rerun variance"]
    return (
        f"a variance of {row.value:.3f} an answer (95 % interval {row.low:.3f} to {row.high:.3f}, "
        f"{row.n} questions)"
    )


def _use(told: dict[tuple[str, str, str], Row]) -> str:
    changed = told["flips", "all four subjects", "questions that change"]
    lite = {m: told["list", "HELM Lite, MMLU, 91 models", m] for m in TABLES["list"][1]}
    new = told["new", "all four subjects", "10 against 10"]
    sd = 100 * lite["score sd"].value
    return (
        f"Asked five times at temperature 0, GPT-4o changed its answer to {changed.value:.0%} of "
        f"{changed.n} questions, which moves a score on HELM Lite's 514 by a standard deviation of "
        f"{sd:.1f} points from run to run: set a puppet's score beside reruns of the same model, and "
        f"take a difference of two single runs for nothing below {1.96 * 2**0.5 * sd:.1f} points, of two "
        f"means of ten below {1.96 * 0.2**0.5 * sd:.1f}. "
        f"With this noise in every model, "
        f"{lite['place changes'].value:.0%} of places on HELM Lite's list change between two reruns, by "
        f"{lite['places moved'].value:.1f} places on average, and the first five are others or in "
        f"another order in {lite['first five change'].value:.0%} of reruns: a change of place when the "
        f"user changes (`p_change` in `ranks`) says something only as far as it exceeds "
        f"`p_change_rerun` and `p_change_baseline` of the same model. Ten fresh reruns alone would give "
        f"some {new.value:.0%} of questions a letter that ten reruns before never gave, where the paper "
        f"counts 13 to 25% for ten simulated users: new letters say something only as an excess over as "
        f"many reruns (`novelty`). These numbers are an order of "
        f"magnitude to plan with, never a substitute for a study's own reruns."
    )


def _table(rows: Sequence[Row], part: str) -> Iterator[str]:
    title, measures = TABLES[part]
    own = [row for row in rows if row.part == part]
    found = {(row.name, row.measure): row for row in own}
    yield from (f"## {title}", "")
    yield f"| | n | {' | '.join(measures)} |"
    yield "|---" * (len(measures) + 2) + "|"
    for name in dict.fromkeys(row.name for row in own):
        n = next(row.n for row in own if row.name == name)
        cells = [_told(found.get((name, measure))) for measure in measures]
        yield f"| {name} | {n} | {' | '.join(cells)} |"
    notes = dict.fromkeys(row.note for row in own if row.note)
    for note in notes:
        yield from ("", _filled(note))


def _told(row: Row | None) -> str:
    if row is None:
        return ""
    text = _number(row.value)
    if row.low is None or row.high is None:
        return text
    return f"{text} ({_number(row.low)} to {_number(row.high)})"


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) and abs(value) > 1 else f"{value:.3g}"
