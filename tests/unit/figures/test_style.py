import itertools
from pathlib import Path

import figure_frames as frames
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from fieldwork.errors import StudyError
from fieldwork.figures import fig1, style
from fieldwork.figures.settings import FigureSettings

SETTINGS = FigureSettings(conditions=[])

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB
BLINDNESS = {
    "none": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
}  # fmt: skip


def lab(colour: str, seen_by: str = "none") -> np.ndarray:
    """CIELAB of a colour, D65, as `seen_by` would see it."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(BLINDNESS[seen_by] @ linear, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    ratio = to_xyz @ linear / np.array([0.9505, 1.0, 1.089])
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("seen_by", BLINDNESS)
def test_the_papers_conditions_keep_apart_in_colour(seen_by: str) -> None:
    styles = style.condition_styles(frames.CONDITIONS, labels={})
    colours = sorted({look.colour for look in styles.values()})
    assert len(colours) == 5  # both offline conditions are green
    for one, other in itertools.combinations(colours, 2):
        assert np.linalg.norm(lab(one, seen_by) - lab(other, seen_by)) > 15, (one, other)


def test_every_condition_has_a_shape_of_its_own_without_colour() -> None:
    many = style.condition_styles([*frames.CONDITIONS, *frames.EXTRA], labels={})
    shapes = {(look.marker, look.is_filled) for look in many.values()}
    assert len(shapes) == len(many) == 12


def test_a_study_draws_conditions_in_its_own_way() -> None:
    own = {
        "history": {"colour": "#112233", "marker": None, "filled": True},
        "noisy": {"colour": None, "marker": "s", "filled": False},
        "absent": {"colour": "#000000", "marker": "o", "filled": True},
    }
    conditions = ["offline", "history", "noisy"]
    settings = FigureSettings(conditions=conditions, styles=own)
    drawn = style.drawn_styles(conditions, settings)
    usual = style.condition_styles(conditions, labels={})
    assert drawn["offline"] == usual["offline"]
    assert drawn["history"] == usual["history"]._replace(colour="#112233")
    assert drawn["noisy"] == usual["noisy"]._replace(marker="s", is_filled=False)


def test_the_order_of_saving_changes_no_byte(tmp_path: Path) -> None:
    table = frames.heterogeneity(["alpha"], ["offline"])
    names, contents = ["a.png", "a.svg", "a.pdf"], []
    for order in (names, names[::-1]):
        figure = fig1.draw(table, FigureSettings(conditions=frames.CONDITIONS))
        style.save(figure, [tmp_path / name for name in order])
        contents.append([(tmp_path / name).read_bytes() for name in names])
    assert contents[0] == contents[1]


@pytest.mark.parametrize("suffix", ["pdf", "svg", "png", "jpg"])
def test_a_full_disk_and_an_unknown_ending_are_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"fig.{suffix}"
    path.symlink_to("/dev/full")
    message = r".*\.pdf, \.svg or \.png" if suffix == "jpg" else ": cannot be written .*--directory"
    with pytest.raises(StudyError, match=rf"fig\.{suffix}{message}"):
        style.save(style.empty_figure("none", SETTINGS), [path])


def test_dollar_signs_are_text(tmp_path: Path) -> None:
    note = FigureSettings(conditions=[], note=r"$\undefined{x}$")
    figure = style.empty_figure(r"an answer may be $\foo$, or cost $5 or $6", note)
    style.save(figure, [tmp_path / "fig.svg"])
    assert r"\foo" in frames.words(figure)
