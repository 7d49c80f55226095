"""The page results.md from results.csv: each claim of the paper beside this model's numbers."""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template
from typing import NamedTuple

from paper import CHOICES, FIELD, LISTS, SCORES, PaperClaim
from rows import Row

HERE = Path(__file__).parent


class PageWords(NamedTuple):
    """What a page says that its table does not hold.

    Attributes:
        template: file of the words before the tables; $made, $count, $model and $rule are filled in.
        command: makes the page.
        study: the file of the study, as a link on the page.
        questions: title of the section of scores.
    """

    template: str
    command: str
    study: str
    questions: str


EXTRACTS_PAGE = PageWords(
    "page.md",
    "make reproduce DATA=folder",
    "../../studies/reproduce.yaml",
    "HELM Lite's 514 questions",
)
MODEL_PAGE = PageWords(
    "page_model.md",
    "make reproduce MODEL=name",
    "../../../studies/reproduce_model.yaml",
    "75 questions of the sample",
)
LABELS = {
    "offline_t0": "Offline (T = 0)",
    "offline": "Offline",
    "history": "SP-History",
    "rag": "SP-RAG",
    "profile": "SP-Profile",
    "offline_again": "Offline (again)",
}
OUTCOMES = ("holds", "cannot be told", "does not hold")

FIELD_TEXT = """No real users were asked, so that these cannot be told:"""


def page(rows: Sequence[Row], words: PageWords) -> str:
    """The whole page."""
    about = {row.claim: row.note for row in rows if row.part == "about"}
    judged = [row.outcome for row in rows if row.part == "claim" and row.outcome]
    n_of = {outcome: judged.count(outcome) for outcome in OUTCOMES}
    count = (
        f"Of {len(judged)} judgements (a claim, an arm, a way to hold lists to their form), "
        f"{n_of['holds']} hold, {n_of['does not hold']} do not, and {n_of['cannot be told']} cannot be "
        "told."
    )
    parts = [
        _head(words, about, count),
        *_section("Lists of recommendations", LISTS, rows),
        *_unread(rows),
        *_section("Four choice items", CHOICES, rows),
        *_section(words.questions, SCORES, rows),
        *_probabilities(rows),
        "## Real users\n",
        FIELD_TEXT + "\n",
        "\n".join(f"- {claim.text} ({claim.numbers})" for claim in FIELD) + "\n",
        *_conditions_of_the_run(about),
    ]
    return "\n".join(parts)


def _head(words: PageWords, about: dict[str, str], count: str) -> str:
    """The words of the template, each paragraph in lines of one length."""
    template = Template((HERE / words.template).read_text(encoding="utf-8"))
    model = next((name.partition(" ")[2] for name in about if name.startswith("model ")), "")
    text = template.substitute(made=_made(about, words), count=count, model=f"`{model}`", rule=RULE)
    blocks = text.strip().split("\n\n")
    return "\n\n".join(block if block[0] in "#-|" else _fill(block) for block in blocks) + "\n"


def _fill(text: str) -> str:
    return textwrap.fill(
        " ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False
    )


def _made(about: dict[str, str], words: PageWords) -> str:
    return (
        f"{about['day']}. Made by `{words.command}` from [results.csv](results.csv), by the study "
        f"[{Path(words.study).name}]({words.study})."
    )


def _section(title: str, claims: Sequence[PaperClaim], rows: Sequence[Row]) -> Iterator[str]:
    yield f"## {title}\n"
    for claim in claims:
        own = [row for row in rows if row.part == "claim" and row.claim == claim.name]
        yield f"### {claim.text}\n"
        yield f"The paper: {claim.numbers}.\n"
        yield _table(own) if own else "This study has no numbers for it: cannot be told.\n"


def _table(rows: Sequence[Row]) -> str:
    """Arms down and models across; a cell is a number and its outcome."""
    models = [*dict.fromkeys(row.model for row in rows)]
    conditions = [name for name in LABELS if any(row.condition == name for row in rows)]
    lines = [f"| | {' | '.join(models)} |", "|---" * (len(models) + 1) + "|"]
    for condition in conditions:
        cells = []
        for model in models:
            own = [r for r in rows if r.model == model and r.condition == condition]
            cells.append(_cell(own[0]) if own else "")
        lines.append(f"| {LABELS[condition]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(row: Row) -> str:
    outcome = f"**{row.outcome}**" if row.outcome else ""
    reason = f" ({row.note})" if row.note and outcome else ""
    parts = [_numbers(row), outcome + reason]
    return "; ".join(part for part in parts if part)


def _numbers(row: Row) -> str:
    if row.n_higher is not None:
        return f"{row.n_higher} of {row.n_estimates}"
    if row.value is None:
        return ""
    values = _value(row.value, row.unit)
    if row.baseline is not None:
        values = f"{_value(row.baseline, row.unit)} → {values}"
    if row.difference is not None:
        interval = ""
        if row.low is not None and row.high is not None:
            interval = f" [{_signed(row.low, row.unit)}, {_signed(row.high, row.unit)}]"
        values += f", {_signed(row.difference, row.unit)}{interval}"
    return f"{values}, n = {row.n}" if row.n is not None else values


def _value(value: float, unit: str) -> str:
    if unit == "share":
        return f"{value:.0%}".replace("%", " %")
    if unit == "points":
        return f"{100 * value:.1f} points"
    return f"{value:.2f} bits" if unit == "bits" else f"{value:.0f}"


def _signed(value: float, unit: str) -> str:
    number = f"{value:+.2f}" if unit == "bits" else f"{100 * value:+.1f}"
    return number.replace("-", "−")


def _unread(rows: Sequence[Row]) -> Iterator[str]:
    own = [row for row in rows if row.part == "unread"]
    yield "### Lists that cannot be read\n"
    yield (
        _fill(
            "They are left out of all numbers above, so that arms are compared at equal numbers of lists "
            "that can be read."
        )
        + "\n"
    )
    yield _table(own)


RULE = "[the rule](../results.md#the-rule)"
PROBABILITIES = """An answer states how probable each letter was, so that one call says what
many draws estimate. Both columns are the same measures of the same answers: of the letters
drawn, and of their probabilities. What is left of chance in the second is which users are
asked. Without a user none is left. Each user was asked each question once, so letters drawn say
nothing of the share of variance that lies between contexts. New answers are letters that the
baseline did not give: of probabilities, the chance that as many draws do. A score from
probabilities counts other words than letters as wrong; an answer whose letters have less than
0.9 of the probability counts as drawn. Distances are above what chance alone does, in bits."""

_MEASURES = {
    "score": "score",
    "share_who": "share of variance between contexts",
    "distance": "distance from offline",
    "novelty": "new answers",
}


def _probabilities(rows: Sequence[Row]) -> Iterator[str]:
    own = [row for row in rows if row.part == "probabilities"]
    if not own:
        return
    yield "## Letters drawn, and their probabilities\n"
    yield _fill(PROBABILITIES) + "\n"
    yield "| | | letters drawn | their probabilities |\n|---|---|---|---|"
    places = sorted({(row.claim, row.condition) for row in own}, key=_place)
    for claim, condition in places:
        cells = {
            row.note: _estimate(row)
            for row in own
            if (row.claim, row.condition) == (claim, condition)
        }
        drawn, stated = cells.get("drawn", ""), cells.get("stated", "")
        measure, _, task = claim.partition(", ")
        name = f"{_MEASURES[measure]}, {task}"
        yield f"| {name} | {LABELS[condition]} | {drawn} | {stated} |"
    yield ""


def _place(place: tuple[str, str]) -> tuple[str, int, int]:
    claim, condition = place
    measure, _, task = claim.partition(", ")
    return task, [*_MEASURES].index(measure), [*LABELS].index(condition)


def _estimate(row: Row) -> str:
    """A value with its interval and the answers it is of."""
    if row.value is None:
        return ""
    digits = 4 if row.unit == "bits" else 3
    interval = ""
    if row.low is not None and row.high is not None:
        interval = f" [{row.low:.{digits}f}, {row.high:.{digits}f}]"
    return f"{row.value:.{digits}f}{interval}, {row.n:,} answers"


def _conditions_of_the_run(about: dict[str, str]) -> Iterator[str]:
    yield "## The run\n"
    yield "| | |\n|---|---|"
    yield "\n".join(f"| {name} | {note} |" for name, note in about.items()) + "\n"
