"""An archive counts participants, so it is deleted with the rest, and copies of it are named."""

from pathlib import Path

import pytest

from fieldwork.field.deletion import computed
from fieldwork.field.deletion.forgetting import DeletionOutcome, Proof
from fieldwork.field.deletion.plan import DeletionPlan, FieldInventory
from fieldwork.field.deletion.search import Search
from fieldwork.field.deletion.sentences import account_of
from fieldwork.field.deletion.site import Site


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("archive/trivia.zip", "archive/trivia/tables/metrics/claims.csv", "findings.md"):
        path = Path("results/trivia", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_an_archive_is_computed_from_the_field() -> None:
    names = {path.as_posix() for path in computed.field_files_of(Path("results/trivia"))}
    assert "results/trivia/archive/trivia.zip" in names
    assert "results/trivia/archive/trivia/tables/metrics/claims.csv" in names


@pytest.mark.parametrize("has_archive", [True, False])
def test_copies_that_were_given_away_are_named(has_archive: bool) -> None:
    study = Path("results/trivia")
    paths = computed.field_files_of(study) if has_archive else [study / "findings.md"]
    inventory = FieldInventory([], [], [], [], frozenset())
    plan = DeletionPlan(inventory, [], [], [], {study: paths}, [], [], [])
    outcome = DeletionOutcome(plan, Proof(Search(1, [], {}), {}, []), is_alone=True)
    site = Site((), "id", (), (), Path("key"), None)
    sentences = "\n".join(account_of(outcome, site))
    assert ("The archive of results/trivia was deleted too. Copies" in sentences) is has_archive
