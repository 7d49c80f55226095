"""From answers to figure 3 where there is little or nothing to measure: NULL with a reason, never NaN."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.text import Text

from fieldwork.figures import fig3
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import use_style
from fieldwork.files.leaderboards import rank_models
from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.novelty import measure_novelty
from fieldwork.metrics.ranks import measure_ranks
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import Rank, RunAccuracy
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item
from unit.metrics.metric_frames import score_estimates

ROOT = Path(__file__).resolve().parents[2]
ITEMS = [Item(f"i{k}", "choice", "q", "p", ["a", "b"], "A", "s", "t") for k in range(3)]
BOARD = rank_models("Board", "board.csv", {"x": 0.9, "y": 0.4})
Unit = tuple[str | None, int, str]


def arm(condition: str, units: Sequence[Unit]) -> list[Answer]:
    """A unit is (puppet, replicate, letters); `-` is a refusal, `!` a response that failed."""
    return [
        Answer(
            "m", "t", condition, item.item_id, puppet, replicate, "choice",
            "failed" if letter == "!" else "refused" if letter == "-" else "ok", None, None,
            letter if letter in "AB" else None, letter if letter in "AB" else None, None,
        )
        for puppet, replicate, letters in units
        for item, letter in zip(ITEMS, letters, strict=True)
    ]  # fmt: skip


OFFLINE = arm("offline", [(None, 0, "AAB"), (None, 1, "ABB"), (None, 2, "AAA")])
CASES: dict[str, list[Answer]] = {
    "users": OFFLINE + arm("c", [("p", 0, "AAB"), ("p", 1, "ABB"), ("q", 0, "BBB"), ("q", 1, "AAA")]),
    "one puppet": OFFLINE + arm("c", [("p", 0, "AAB")]),
    "one puppet, twice": OFFLINE + arm("c", [("p", 0, "AAB"), ("p", 1, "ABB")]),
    "all refuse": OFFLINE + arm("c", [("p", 0, "---"), ("q", 0, "---")]),
    "offline refuses": arm("offline", [(None, 0, "---")]) + arm("c", [("p", 0, "AAB")]),
    "one class": arm("offline", [(None, k, "AAA") for k in range(3)]) + arm("c", [("p", 0, "AAA")]),
    "nothing arrived": OFFLINE + arm("c", [("p", 0, "!!!"), ("q", 0, "!!!")]),
    "half arrived": OFFLINE + arm("c", [("p", 0, "A!!"), ("q", 0, "!B!")]),
    "no baseline": arm("c", [("p", 0, "AAB"), ("q", 0, "ABB")]),
    "none": [],
}  # fmt: skip


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with mpl.rc_context():
        use_style(ROOT / "resources" / "figures.mplstyle")
        yield


def frame(rows: Sequence[Any], row_type: type[Any]) -> pd.DataFrame:
    columns = [f.name for f in dataclasses.fields(row_type)]
    return pd.DataFrame([dataclasses.asdict(row) for row in rows], columns=columns)


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_measured_is_null_with_a_reason_and_the_figure_says_so(case: str) -> None:
    answers = frame([*CASES[case], *arm("again", [(None, 3, "AAB")])], Answer)
    runs = measure_runs(answers, frame(ITEMS, Item))
    scores = score_estimates(runs)
    spreads = measure_score_spreads(runs, baseline="offline", n_permutations=99, seed=1)
    ranks = measure_ranks(runs, BOARD, baseline="offline")
    novel = measure_novelty(answers, baseline="offline", control="again", n_permutations=99)
    for row in (*spreads, *ranks, *novel):
        cells = dataclasses.asdict(row)
        assert not [k for k, v in cells.items() if isinstance(v, float) and math.isnan(v)]
        null = [k for k, v in cells.items() if v is None and k != "reason"]
        assert not null or cells["reason"], (type(row), null)
    tables = (
        frame(runs, RunAccuracy),
        frame(scores, Estimate),
        frame(ranks, Rank),
        BOARD,
    )
    figure = fig3.draw(*tables, FigureSettings(conditions=["offline", "again", "c"]))
    words = "\n".join(t.get_text() for t in figure.findobj(Text))
    assert "nan" not in words.lower()
    if case == "half arrived":
        assert "n/a: no complete run" in words
