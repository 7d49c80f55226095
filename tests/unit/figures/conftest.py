"""The figures' tests draw by the project's own style sheet and put matplotlib back afterwards."""

from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pytest

from fieldwork.figures.style import use_style

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def root() -> Iterator[Path]:
    with mpl.rc_context():
        use_style(ROOT / "resources" / "figures.mplstyle")
        yield ROOT
