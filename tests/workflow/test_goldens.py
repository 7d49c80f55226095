"""Six small studies come out as they did: every table, marks table, page and export, by their digests."""

from pathlib import Path

import pytest

from goldens.replay import GOLDENS, digests_of, known_digests, replay

pytestmark = pytest.mark.workflow


@pytest.mark.parametrize("name", GOLDENS)
def test_what_a_study_makes_is_what_it_made(name: str, tmp_path: Path) -> None:
    made, known = digests_of(replay(name, tmp_path / name)), known_digests(name)
    assert known
    others = sorted(file for file in {*made, *known} if made.get(file) != known.get(file))
    assert not others, (
        "these differ: `tests/goldens/replay.py compare` says in which rows, and `accept` takes them "
        "over where that was meant (docs/architecture.md)"
    )
