"""Which files a preregistration holds by hash, and which it does not."""

from pathlib import Path
from typing import Any

from fieldwork.config.deciding_files import deciding_files, downloads_at_commits
from fieldwork.config.study import Study
from unit.config.test_study import HOME, study


def test_what_is_read_and_judged_by_is_named_by_its_setting(tmp_path: Path) -> None:
    for name in ("first.csv", "second.csv"):
        (tmp_path / name).touch()
    overrides = [str(tmp_path / name) for name in ("first.csv", "second.csv")]
    files = deciding_files(study(parsing={"overrides": overrides}))
    assert files["parsing.overrides"] == overrides
    assert files["parsing.aliases"] == ["resources/tasks/aliases.csv"]
    assert files["metrics.categories"] == ["resources/categories.csv"]
    assert files["profiles.template"] == ["resources/templates/profile.txt"]


def test_a_download_at_a_commit_needs_no_file() -> None:
    paper = study(study={"conditions": ["offline", "history"]}, conditions=_of_corpus("oasst2"))
    (pins,) = downloads_at_commits(paper).values()
    assert pins["repo"] == "OpenAssistant/oasst2"
    assert "corpora.oasst2" not in deciding_files(paper)


def test_recorded_answers_are_among_them(tmp_path: Path) -> None:
    (tmp_path / "answers.csv").touch()
    files = deciding_files(_recorded(tmp_path / "answers.csv"))
    assert files["recordings.old"] == [str(tmp_path / "answers.csv")]


def test_files_about_people_and_consents_are_not() -> None:
    for one in (study(), study("studies/personalisation.yaml")):
        names = deciding_files(one).keys()
        assert not names & {"field_kit.consent", "judging.kit.consent", "judging.groups"}
        assert not names & {"memory.reference", "field.path"}


def test_what_an_archive_left_out_is_no_file() -> None:
    paths = ["resources/tasks/gone.csv"]
    config = study().config
    parsing = {**config["parsing"], "aliases": paths[0]}
    archived = Study({**config, "parsing": parsing, "archived": {"left_out": paths}}, HOME)
    assert deciding_files(archived)["parsing.aliases"] == []
    assert deciding_files(archived)["metrics.categories"] == ["resources/categories.csv"]


def _of_corpus(name: str) -> dict[str, Any]:
    return {"history": {"corpus": name}}


def _recorded(path: Path) -> Study:
    model = {"provider": "recorded", "label": "GPT", "recording": "old", "recorded_as": "gpt"}
    columns = {"item": "id", "answer": "reply", "user": "who"}
    return study(
        study={"models": ["gpt"], "conditions": ["offline", "people"], "primary": []},
        models={"gpt": model},
        recordings={"old": {"format": "table", "path": str(path), "columns": columns}},
        conditions={"people": {"context": "recorded", "label": "People"}},
    )
