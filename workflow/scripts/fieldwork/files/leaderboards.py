"""Leaderboards: models and their published scores on the questions of a task, from CSV files."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files import texts

DECIMALS = 3
"""Places after the point at which scores are compared."""


class Place(NamedTuple):
    """A model of a leaderboard; its rank is 1 + the number of models that score higher."""

    rank: int
    model: str
    score: float


class Leaderboard(NamedTuple):
    """The models of a leaderboard, the best first. `source` is its file, for messages."""

    name: str
    source: str
    places: Sequence[Place]


NONE = Leaderboard("", "", ())
"""Of a task that has none."""


def read_leaderboard(path: str) -> Leaderboard:
    """A file with the columns `model` and `score` (a share of 1).

    What is printed as its name is the column `leaderboard`, or the file's name where there is none.

    Raises:
        StudyError: the file cannot be read, or a line has no model, or no score from 0 to 1.
    """
    rows = texts.read_table(path, ("model", "score"))
    scores: dict[str, float] = {}
    for number, row in enumerate(rows, start=2):
        model, score = row.get("model", "").strip(), _share(row.get("score", ""))
        if not model or score is None:
            raise StudyError(
                f"{path}: line {number} needs a `model` and its `score` as a share of 1; correct it, or "
                f"remove the line"
            )
        if model in scores:
            raise StudyError(f"{path}: line {number} has {model!r} again; remove one of the lines")
        scores[model] = score
    name = rows[0].get("leaderboard", "").strip() if rows else ""
    return rank_models(name or Path(path).stem.replace("_", " "), path, scores)


def rank_models(name: str, source: str, scores: dict[str, float]) -> Leaderboard:
    """The leaderboard of some models' scores; those that score alike keep their order."""
    rounded = [round(score, DECIMALS) for score in scores.values()]
    places = [
        Place(1 + sum(other > round(score, DECIMALS) for other in rounded), model, score)
        for model, score in scores.items()
    ]
    return Leaderboard(name, source, sorted(places, key=lambda place: place.rank))


def _share(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= 1 else None
