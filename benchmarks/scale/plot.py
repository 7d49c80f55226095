"""The log-log plot of what was measured: a straight line of slope one is growth in proportion."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from measurements import FIELDWORK, LABELS, STEPS, Results

ROOT = Path(__file__).resolve().parents[2]
INCHES = (13.0, 3.8)
COLOURS = 10
"""Before the style's cycle begins anew."""


def draw_growth(results: Results, path: Path) -> None:
    """Seconds and memory by conversations for every tool, and seconds by requests for every stage."""
    mpl.use("Agg")
    plt.style.use(ROOT / "resources" / "figures.mplstyle")
    figure, axes = plt.subplots(1, 3, figsize=INCHES, layout="constrained")
    for tool, label in LABELS.items():
        _line(axes[0], results, "corpus", tool, label, "seconds")
        _line(axes[1], results, "corpus", tool, label, "private_mib")
    _line(axes[0], results, "contexts", FIELDWORK, "Fieldwork, contexts", "seconds")
    for step in STEPS:
        _line(axes[2], results, step, FIELDWORK, step.replace("_", " "), "seconds", by="kept")
    for axis, names in zip(axes, _names(), strict=True):
        axis.set(xscale="log", yscale="log", xlabel=names[0], ylabel=names[1])
        axis.set_title(names[2], fontsize="medium")
        for number, line in enumerate(axis.lines):
            line.set_linestyle("-" if number < COLOURS else "--")
        _slope_one(axis)
        beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if axis is axes[2] else {}
        axis.legend(fontsize="x-small", frameon=False, **beside)
    figure.savefig(path, dpi=150, metadata={"Software": None})
    plt.close(figure)


def _names() -> list[tuple[str, str, str]]:
    corpus = "conversations"
    return [
        (corpus, "seconds", "The corpus"),
        (corpus, "private memory, MiB", "Memory"),
        ("requests", "seconds", "From requests to figures"),
    ]


def _line(
    axis: Any, results: Results, what: str, tool: str, label: str, value: str, *, by: str = "n"
) -> None:
    cells = [(n, cell) for n in results.sizes(what) if (cell := results.cell(what, tool, n))]
    x = [n if by == "n" else getattr(cell, by) for n, cell in cells]
    if x:
        wide = 2.2 if tool == FIELDWORK and by == "n" else 1.2
        axis.plot(x, [getattr(c, value) for _, c in cells], "o-", ms=3, lw=wide, label=label)


def _slope_one(axis: Any) -> None:
    low, high = axis.get_xlim()
    bottom, top = axis.get_ylim()
    axis.plot(
        [low, high],
        [bottom, bottom * high / low],
        ":",
        color="0.6",
        lw=1,
        zorder=0,
        label="in proportion",
    )
    axis.set(xlim=(low, high), ylim=(bottom, top))
