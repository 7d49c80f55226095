"""Which files a preregistration holds by hash, and which it does not."""

from pathlib import Path

from fieldwork.config.deciding_files import deciding_files, downloads_at_commits
from fieldwork.config.study import Study
from unit.shipped_config import HOME, study


def test_what_is_read_and_judged_by_is_named_by_its_setting(tmp_path: Path) -> None:
    overrides = [str(tmp_path / name) for name in ("first.csv", "second.csv")]
    for path in overrides:
        Path(path).touch()
    files = deciding_files(study(parsing={"overrides": overrides}))
    assert files["parsing.overrides"] == overrides
    assert files["parsing.aliases"] == ["resources/tasks/aliases.csv"]
    assert files["metrics.categories"] == ["resources/categories.csv"]
    assert files["profiles.template"] == ["resources/templates/profile.txt"]


def test_a_download_at_a_commit_needs_no_file() -> None:
    conditions = {"history": {"corpus": "oasst2"}}
    paper = study(study={"conditions": ["offline", "history"]}, conditions=conditions)
    (pins,) = downloads_at_commits(paper).values()
    assert pins["repo"] == "OpenAssistant/oasst2"
    assert "corpora.oasst2" not in deciding_files(paper)


def test_recorded_answers_are_among_them(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.touch()
    columns = {"item": "id", "answer": "reply", "user": "who"}
    recorded = study(
        study={"models": ["gpt"], "conditions": ["offline", "people"], "primary": []},
        models={"gpt": {"provider": "recorded", "label": "GPT", "recording": "old"}},
        recordings={"old": {"format": "table", "path": str(path), "columns": columns}},
        conditions={"people": {"context": "recorded", "label": "People"}},
    )
    assert deciding_files(recorded)["recordings.old"] == [str(path)]


def test_files_about_people_and_consents_are_not() -> None:
    for one in (study(), study("studies/personalisation.yaml")):
        names = {"field_kit.consent", "judging.kit.consent", "judging.groups"}
        assert not deciding_files(one).keys() & {*names, "memory.reference", "field.path"}


def test_what_an_archive_left_out_is_no_file() -> None:
    path = "resources/tasks/gone.csv"
    config = study(parsing={"aliases": path}).config
    files = deciding_files(Study({**config, "archived": {"left_out": [path]}}, HOME))
    assert files["parsing.aliases"] == []
    assert files["metrics.categories"] == ["resources/categories.csv"]
