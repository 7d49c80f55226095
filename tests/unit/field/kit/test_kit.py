"""The field kit: one survey in every form, and column maps that name what is written."""

import copy
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from fieldwork import answer_pages, page_texts
from fieldwork.errors import StudyError
from fieldwork.field.kit import qualtrics, web_page
from fieldwork.field.kit.files import kit_texts
from fieldwork.field.kit.survey import Survey, page_columns, page_map, qualtrics_map, survey_of
from fieldwork.files.cells import guard_cell, plain_cell
from fieldwork.records.tasks import Item
from unit.shipped_pages import page_sources, page_template

KIT = Path(__file__).parents[4] / "resources" / "field_kit"
NASTY = [
    '</script><script>alert("x")</script>', "[[PageBreak]]\n${e://Field/x}", "a < b & c\n\nA. d",
]  # fmt: skip
GROUP = {"question": "Which of these?", "options": ["Red & <blue>", "Green"]}
SETTINGS: dict[str, Any] = {"platforms": {}, "repeats": 1, "groups": {"colour": GROUP}}
LABELS = {"alpha": "Alpha", "beta": "Beta"}
WORDS = page_texts.read_words(KIT / "texts_en.yaml", KIT / "texts_en.yaml")


def item(item_id: str, prompt: str) -> Item:
    return Item(item_id, "list", prompt, prompt, [], None, None, "test")


def items() -> dict[str, list[Item]]:
    # an id that another task has too
    nasty = [item(f"item-{n}", text) for n, text in enumerate(NASTY)]
    return {"first": nasty, "second": [item("item-0", "Recommend five hats.")]}


def survey(**settings: Any) -> Survey:
    return survey_of("demo", items(), copy.deepcopy(SETTINGS | settings), LABELS)


def page(own: Survey, consent: str = "Consent.") -> str:
    content = web_page.survey_content(own, WORDS)
    return answer_pages.render(page_template("field_kit"), content, WORDS, consent)


class Elements(HTMLParser):
    """Elements of a page, with the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        tag, attributes = self.found[-1] if self.found else ("", {})
        if tag == "script":
            name = attributes.get("id") or "code"
            self.texts[name] = self.texts.get(name, "") + data


def test_the_page_map_names_the_columns_of_the_page() -> None:
    own = survey()
    columns, told = page_columns(own), page_map(own, "folder")
    assert len(set(columns)) == len(columns)
    named = {**told["columns"]}
    groups = named.pop("groups")
    assert {*named.values(), *groups.values()} <= {*columns}
    data = json.loads(Elements(page(own)).texts["page-data"])
    assert (data["columns"], data["variables"]) == (columns, [*groups])
    assert [prompt["key"] for prompt in data["prompts"]] == [*told["prompts"].values()]
    assert [model for model, _ in data["platforms"]] == [*told["models"]]


def test_the_qualtrics_map_names_the_questions_of_the_text() -> None:
    own = survey()
    text = qualtrics.render(own, WORDS, "Consent.")
    questions = re.findall(r"^\[\[ID:(.+)\]\]$", text, re.MULTILINE)
    assert len(set(questions)) == len(questions)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", question) for question in questions)
    told = qualtrics_map(own, "folder", qualtrics.question_ids(own), WORDS["agree"])
    named = {**told["columns"]}
    groups = named.pop("groups")
    expected = {*named.values(), *groups.values(), *told["prompts"].values(), "consent"}
    assert expected == {*questions}
    assert [*told["prompts"]] == [prompt.key for prompt in own.prompts]
    assert told["rows"] == {"consent": [WORDS["agree"], "1"]}
    assert told["models"] == {"Alpha": "alpha", "Beta": "beta"}


def test_the_qualtrics_text_holds_every_prompt_and_no_tag_of_theirs() -> None:
    text = qualtrics.render(survey(), WORDS, "You agree. [[Block:x]]")
    assert text.startswith("[[AdvancedFormat]]\n")
    for prompt in (
        '&lt;/script&gt;&lt;script&gt;alert("x")&lt;/script&gt;',
        "&#91;&#91;PageBreak]]<br>&#36;{e://Field/x}",
        "a &lt; b &amp; c<br><br>A. d",
        "Recommend five hats.",
    ):
        assert text.count(f"<blockquote>{prompt}</blockquote>") == 1
    tags = set(re.findall(r"\[\[([A-Za-z]+)", text))
    assert tags == {"AdvancedFormat", "ED", "Block", "Question", "ID", "Choices"}
    assert re.findall(r"\[\[Block:(\w+)", text) == ["Consent", "About", "Prompts"]
    assert "Green\nPrefer not to say\n" in text


def test_nothing_of_a_study_becomes_markup_or_code() -> None:
    attack = '"><img src=x onerror=alert(1)>'
    groups = {"colour": {"question": attack, "options": [attack, "b"]}}
    own = survey(groups=groups, platforms={"alpha": attack})
    elements = Elements(page(own, consent=f"# {attack}\n\n- {attack}\n\n{attack} {{{{js}}}}"))
    tags = [tag for tag, _ in elements.found]
    assert "img" not in tags
    assert tags.count("script") == 2
    assert json.loads(elements.texts["page-data"])["prompts"][0]["text"] == NASTY[0]
    values = [a["value"] for tag, a in elements.found if tag == "input" and "value" in a]
    assert values == ["alpha", "beta", attack, "b", ""]
    # another prompt makes another survey
    others = [survey(repeats=2), survey(groups={}), survey(platforms={"alpha": "A"})]
    assert survey().digest == survey().digest
    assert len({own.digest for own in [survey(), *others]}) == 4


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"platforms": {"alpha": "Beta"}}, "field_kit.platforms: 'beta' is listed twice"),
        ({"groups": {"a": GROUP, "A": GROUP}}, "field_kit.groups: 'a' is listed twice"),
        ({"groups": {"a": {"question": "?", "options": ["Yes", "yes "]}}},
         "field_kit.groups.a.options: 'yes' is listed twice"),
    ],
)  # fmt: skip
def test_names_that_clash_and_a_survey_without_a_prompt_are_told(
    settings: dict[str, Any], told: str
) -> None:
    with pytest.raises(StudyError, match=re.escape(told)):
        survey(**settings)
    with pytest.raises(StudyError, match=r"field_kit\.tasks: there is no prompt"):
        survey_of("demo", {}, SETTINGS, LABELS)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"copy": None}, "copy is not a text"),
        ({"extra": "x"}, "'extra' is not a text of the page"),
        ({"copy": ...}, "the text 'copy' is missing"),
    ],
)
def test_words_of_another_language_are_checked(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    own = tmp_path / "texts.yaml"
    words = {name: text for name, text in (WORDS | change).items() if text is not ...}
    own.write_text(yaml.safe_dump(words), encoding="utf-8")
    with pytest.raises(StudyError, match=rf"texts\.yaml.*{told}"):
        page_texts.read_words(own, KIT / "texts_en.yaml")


@given(st.text(alphabet="'=+-@\t\r\n＝a ", max_size=6))
@example("=1+1")
def test_every_text_comes_back_from_its_cell_and_none_looks_like_a_formula(text: str) -> None:
    assert plain_cell(guard_cell(text)) == text
    assert not re.match(r"[=+\-@\t\r\n＝]", guard_cell(text))


def test_the_kit_has_a_text_for_every_file_and_warns_of_what_is_not_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    texts = {"texts": "texts_en.yaml", "shipped_texts": "texts_en.yaml", "consent": "consent.md"}
    texts |= {"information_template": "information.md", "readme_template": "kit_readme.md"}
    paths = page_sources("field_kit") | {name: str(KIT / file) for name, file in texts.items()}
    own, names = survey(), ["survey", "qualtrics", "page_map", "qualtrics_map"]
    kit = kit_texts(own, paths)
    assert [*kit] == [*names, "information", "readme"]
    assert yaml.safe_load(kit["page_map"])["field"] == page_map(own, "resources/field/page")
    assert "consent.md" in kit["readme"]
    (warning,) = caplog.messages
    assert warning.startswith("consent.md: replace what is marked REPLACE")
    caplog.clear()
    consent = tmp_path / "agreed.md"
    consent.write_text("You agree.", encoding="utf-8")
    kit = kit_texts(own, paths | {"consent": str(consent)})
    assert ["You agree." in kit[name] for name in ("survey", "qualtrics")] == [True, True]
    assert "agreed.md" not in kit["readme"]
    assert not caplog.messages
