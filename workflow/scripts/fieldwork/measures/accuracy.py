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
    ],
)
