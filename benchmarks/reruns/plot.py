"""The figure of the page: five real runs, and what their noise would do to a leaderboard."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

from report import Row

ROOT = Path(__file__).resolve().parents[2]
INCHES = (6.85, 2.7)
NOISES = ("steadiest subject", "GPT-4o", "least steady subject")


def draw(rows: Sequence[Row], path: Path) -> None:
    """Runs by subject on the left, chance of another place by place on the right."""
    mpl.use("Agg")
    plt.style.use(ROOT / "resources" / "figures.mplstyle")
    figure, (left, right) = plt.subplots(
        1, 2, figsize=INCHES, layout="constrained", width_ratios=[1, 1.15]
    )
    subjects = list(dict.fromkeys(row.name for row in rows if row.part == "run"))
    for y, subject in enumerate(subjects):
        scores = [row.value for row in rows if (row.part, row.name) == ("run", subject)]
        mean = sum(scores) / len(scores)
        (sd,) = [
            row.value
            for row in rows
            if (row.part, row.name, row.measure) == ("runs", subject, "sd from single answers")
        ]
        left.barh(y, 2 * 196 * sd, left=-196 * sd, height=0.5, color="#DDDDDD", linewidth=0)
        left.plot([100 * (s - mean) for s in scores], [y] * len(scores), "o", color="#0072B2",
                  markersize=3.2)  # fmt: skip
    left.axvline(0, color="#555555", linewidth=0.6)
    left.set_yticks(range(len(subjects)), [s.replace("_", " ") for s in subjects])
    left.invert_yaxis()
    left.set_xlabel("score of a run, less the mean of five: points")
    left.set_title("GPT-4o, five runs at temperature 0", loc="left")
    curves = {
        noise: [row.value for row in rows if (row.part, row.name) == ("curve", noise)]
        for noise in NOISES
    }
    places = range(1, len(curves["GPT-4o"]) + 1)
    right.fill_between(places, curves[NOISES[0]], curves[NOISES[2]], color="#DDDDDD", linewidth=0)
    right.plot(places, curves["GPT-4o"], color="#0072B2")
    right.set(xlabel="place on HELM Lite, MMLU", ylim=(0, 1), xlim=(1, len(places)))
    right.set_title("chance of another place in a rerun", loc="left")
    figure.savefig(path, dpi=200, metadata={"Software": None})
    plt.close(figure)
