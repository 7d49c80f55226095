"""How many answers are right? Scores of whole runs, each of one user or rerun over all questions."""

from typing import NamedTuple

from fieldwork.estimates.declaration import Measure, ReaderQuestion, share_bounds


class ScoreWords(NamedTuple):
    """A number of a run, and how it reads.

    Attributes:
        is_stated: whether it is made of probabilities that answers state.
        highest: the largest value; of 1 it is a share.
    """

    title: str
    meaning: str
    is_stated: bool = False
    highest: float = 1.0

    def bounds(self, n: int) -> tuple[float, float]:
        """What its value can reach."""
        low, high = share_bounds(n)
        return low, self.highest * high


_SCORES = {
    "em_strict": ScoreWords(
        "Score", "share of right answers in HELM's reading, mean over subjects"
    ),
    "em_flexible": ScoreWords("Score in any form", "the same, wherever an answer names its letter"),
    "format_failure": ScoreWords(
        "Without a form", "share of answers in which HELM's reading finds no letter"
    ),
    "expected_score": ScoreWords(
        "Score to expect",
        "probability of the right letter, mean over subjects: the score without the chance of a draw",
        is_stated=True,
    ),
    "brier_score": ScoreWords(
        "Brier score",
        "mean squared distance of the probabilities from the right letter, 0 to 2: lower is better",
        is_stated=True,
        highest=2.0,
    ),
    "calibration_error": ScoreWords(
        "Calibration error",
        "how far the probability of the likeliest letter is from how often it is right, in ten bins",
        is_stated=True,
    ),
}

QUESTION = ReaderQuestion(
    title="Scores",
    sentence="How many answers are right, and is it as many with a user? Means over runs: one run is all "
    "questions of a task, asked by one user or rerun. `score_spreads` says how far runs spread.",
    source="accuracy_runs",
    measures=[
        Measure(
            name=name,
            title=score.title,
            meaning=score.meaning,
            of=name,
            noun="run",
            absence="is complete and states probabilities"
            if score.is_stated
            else "is complete and has an answer that can be read",
            bounds=score.bounds,
            is_tested=True,
            is_stated=score.is_stated,
            unit="points" if score.highest == 1 else "",
            scale=100 if score.highest == 1 else 1,
            digits=1 if score.highest == 1 else 2,
        )
        for name, score in _SCORES.items()
    ],
)
