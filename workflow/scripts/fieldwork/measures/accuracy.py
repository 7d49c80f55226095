"""How many answers are right? Scores of whole runs, each of one user or rerun over all questions."""

from fieldwork.estimates.declaration import Measure, ReaderQuestion, share_bounds

_MEANINGS = {
    "em_strict": ("Score", "share of right answers in HELM's reading, mean over subjects"),
    "em_flexible": ("Score in any form", "the same, wherever an answer names its letter"),
    "format_failure": (
        "Without a form",
        "share of answers in which HELM's reading finds no letter",
    ),
}


def _brier_bounds(_: int) -> tuple[float, float]:
    return 0.0, 2.0


_OF_PROBABILITIES = (
    (
        *("expected_score", "Score to expect"),
        "probability of the right letter, mean over subjects: the score without the chance of a draw",
        *(share_bounds, 100.0),
    ),
    (
        *("brier_score", "Brier score"),
        "mean squared distance of the probabilities from the right letter, 0 to 2: lower is better",
        *(_brier_bounds, 1.0),
    ),
    (
        *("calibration_error", "Calibration error"),
        "how far the probability of the likeliest letter is from how often it is right, in ten bins",
        *(share_bounds, 100.0),
    ),
)

QUESTION = ReaderQuestion(
    title="Scores",
    sentence="How many answers are right, and is it as many with a user? Means over runs: one run is all "
    "questions of a task, asked by one user or rerun. `score_spreads` says how far runs spread.",
    source="accuracy_runs",
    measures=[
        Measure(
            name=name,
            title=title,
            meaning=meaning,
            of=name,
            noun="run",
            absence="is complete and has an answer that can be read",
            bounds=share_bounds,
            is_tested=True,
            unit="points",
            scale=100,
            digits=1,
        )
        for name, (title, meaning) in _MEANINGS.items()
    ]
    + [
        Measure(
            name=name,
            title=title,
            meaning=meaning,
            of=name,
            noun="run",
            absence="is complete and states probabilities",
            bounds=bounds,
            is_tested=True,
            is_stated=True,
            unit="points" if scale == 100 else "",
            scale=scale,
            digits=1 if scale == 100 else 2,
        )
        for name, title, meaning, bounds, scale in _OF_PROBABILITIES
    ],
)
