"""The ledgers of a config, one after another: those that are sound, damaged, lost, or not there."""

from pathlib import Path

import pytest

from fieldwork.errors import StudyError
from fieldwork.generation.ledger import open_ledger
from fieldwork.generation.recovery.salvage import recover_ledgers

EMBEDDED = {
    "provider": "embedded",
    "encoder": "all-MiniLM-L6-v2",
    "sharpness": 40,
    "context_weight": 0.3,
}


def test_each_ledger_is_looked_at_and_what_is_lost_stops_the_run_at_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    with open_ledger(tmp_path / "sound.sqlite"):
        pass
    (tmp_path / "lost.sqlite").write_bytes(b"no database " * 1_000)
    models = dict.fromkeys(("lost", "never_asked", "sound"), EMBEDDED)
    with pytest.raises(StudyError, match=r"lost\.sqlite: damaged .* give the answers up"):
        recover_ledgers(models, tmp_path, tmp_path / "vectors.sqlite")
    (sentence,) = caplog.messages
    assert "sound.sqlite: not damaged; it holds 0 answers" in sentence
    assert not (tmp_path / "never_asked.sqlite").exists()
