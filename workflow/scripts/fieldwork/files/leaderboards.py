"""Leaderboards: models and their published scores on the questions of a task, from CSV files."""

import math
from collections.abc import Sequence
from pathlib import Path

from fieldwork.errors import StudyError
from fieldwork.files import texts
from fieldwork.records.shared import NO_LEADERBOARD, Leaderboard, LeaderboardPlace

DECIMALS = 3
"""Places after the point at which scores are compared."""


def read_task_leaderboard(paths: Sequence[str]) -> Leaderboard:
    """The leaderboard of a task: of its file, or `NO_LEADERBOARD` where there is none.

    Raises:
        StudyError: as `read_leaderboard` does.
    """
    return read_leaderboard(paths[0]) if paths else NO_LEADERBOARD


def read_leaderboard(path: str) -> Leaderboard:
    """A leaderboard from a file with the columns `model` and `score` (a share of 1).

    Its printed name is the column `leaderboard`, or the file's name where there is no such column.

    Raises:
        StudyError: the file cannot be read, or a row has no model, no score from 0 to 1, or a model that
            an earlier row has.
    """
    rows = texts.read_table(path, ("model", "score"))
    scores: dict[str, float] = {}
    for number, row in enumerate(rows, start=2):
        model, score = row.get("model", "").strip(), _score(row.get("score", ""))
        if not model or score is None:
            raise StudyError(
                f"{path}: row {number} needs a `model` and a `score` from 0 to 1 (a share, not a "
                f"percentage); correct or delete the row"
            )
        if model in scores:
            raise StudyError(
                f"{path}: row {number} has the model {model!r} again; delete one of the rows"
            )
        scores[model] = score
    name = rows[0].get("leaderboard", "").strip() if rows else ""
    return rank_models(name or Path(path).stem.replace("_", " "), path, scores)


def rank_models(name: str, source: str, scores: dict[str, float]) -> Leaderboard:
    """The leaderboard of some models' scores; models with equal scores keep their order."""
    rounded_scores = [round(score, DECIMALS) for score in scores.values()]
    places = [
        LeaderboardPlace(
            1 + sum(other > round(score, DECIMALS) for other in rounded_scores), model, score
        )
        for model, score in scores.items()
    ]
    return Leaderboard(name, source, sorted(places, key=lambda place: place.rank))


def _score(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= 1 else None
