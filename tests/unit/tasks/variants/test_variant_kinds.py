"""Questions put otherwise: what every kind of change keeps, and the kinds that change whole questions."""

from dataclasses import replace
from pathlib import Path

import pytest

from fieldwork.errors import StudyError
from fieldwork.records.tasks import Item
from fieldwork.tasks.own_items import TaskSource
from fieldwork.tasks.prompts import ChoiceQuestion, helm_prompt, plain_prompt
from fieldwork.tasks.variants.kinds import Step, change_items

HOME = Path(__file__).resolve().parents[4]
TABLES = HOME / "resources" / "variants"

QUESTION = (
    "Could you please tell me what {name} is going to get by the 30 % rule, if it isn't paid?"
)
OPTIONS = ["A definitely larger refund", "Nothing", "A separate letter", "$30"]


def choice(number: int = 0, question: str = QUESTION, gold: str = "B") -> Item:
    prompt = plain_prompt(ChoiceQuestion(question, tuple(OPTIONS), gold))
    return Item(f"item-{number}", "choice", question, prompt, OPTIONS, gold, "tax", "a test")


def step(kind: str, value: object, table: str | None = None, seed: int = 1) -> Step:
    path = str(TABLES / table) if table else None
    return Step(f"tasks.noisy.put.{kind}", kind, value, path, seed)


STEPS = {
    "typos": step("typos", 0.3),
    "misspellings": step("misspellings", 1.0, "misspellings.csv"),
    "casual": step("casual", True, "chat_words.csv"),
    "fragment": step("fragment", True, "politeness.csv"),
    "dialect": step("dialect", "african_american_english", "dialects.csv"),
    "scaffold": step("scaffold", "raw"),
    "names": step("names", "Black women", "names.csv"),
}


@pytest.mark.parametrize("kind", STEPS)
def test_a_change_keeps_what_pairs_and_grades(kind: str) -> None:
    items = [choice(number) for number in range(4)]
    first, again = (change_items(items, [STEPS[kind]]) for _ in range(2))
    assert first == again
    for item, changed in zip(items, first, strict=True):
        assert changed.applied is True
        assert changed != replace(item, applied=True)
        assert (changed.item_id, changed.gold) == (item.item_id, item.gold)
        assert changed.choices == OPTIONS
        # the options with their letters stay as they are
        options = "\nA. A definitely larger refund\nB. Nothing\nC. A separate letter\nD. $30"
        assert options in changed.prompt
        assert "30 %" in changed.question
    # nor does the order of the questions change anything
    assert change_items(items[::-1], [STEPS[kind]])[1] == change_items(items[2:3], [STEPS[kind]])[0]


def test_in_a_prompt_with_examples_only_the_question_changes() -> None:
    question = ChoiceQuestion("Which of these is the separate committee?", ("x", "y"), "A")
    prompt = helm_prompt(question, [question], "grammar", letter_instruction=True)
    item = Item("one", "choice", question.text, prompt, ["x", "y"], "A", "grammar", "a test")
    [changed] = change_items([item], [step("typos", 0.5)])
    assert changed.question != item.question
    assert changed.prompt.count(question.text) == 1
    assert changed.prompt.endswith(f"Question: {changed.question}\nA. x\nB. y\nAnswer:")


def test_a_list_keeps_the_number_that_its_prompt_asks_for() -> None:
    text = "Please name five films for me."
    item = Item("films", "list", text, text, [], None, None, "a test")
    [changed] = change_items([item], [step("typos", 1.0)])
    assert changed.list_length == 5
    assert changed.prompt == changed.question != text


def test_what_could_not_be_changed_is_marked() -> None:
    items = [choice(0), choice(1, "你好吗？")]
    assert [item.applied for item in change_items(items, [step("typos", 0.5)])] == [True, False]
    # both steps have to be made
    steps = [step("scaffold", "raw"), step("typos", 0.5)]
    assert [item.applied for item in change_items(items, steps)] == [True, False]
    assert [item.applied for item in change_items(items, steps[::-1])] == [True, False]


def test_a_change_that_no_question_takes_is_refused() -> None:
    with pytest.raises(StudyError, match=r"tasks.noisy.put.typos: none of the 2 questions"):
        change_items([choice(0, "你好吗？"), choice(1, "为什么？")], [step("typos", 0.5)])


# ---- what stands around a question ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "end"),
    [
        ("raw", "\nD. $30"),
        ("instruction", "\n\nAnswer with only a single letter."),
        ("think", 'Think step by step. Then write "The answer is" and the letter of your choice.'),
    ],
)
def test_scaffolds_end_a_prompt(form: str, end: str) -> None:
    item = replace(choice(), prompt="worked examples and all")
    [changed] = change_items([item], [step("scaffold", form)])
    assert changed.prompt.startswith(QUESTION)
    assert changed.prompt.endswith(end)


def test_a_list_has_no_scaffold() -> None:
    item = Item("films", "list", "Name films.", "Name films.", [], None, None, "a test")
    with pytest.raises(StudyError, match="no choice questions"):
        change_items([item], [step("scaffold", "think")])


# ---- names ---------------------------------------------------------------------------------------


def people(path: Path, text: str) -> Step:
    path.write_text(text, encoding="utf-8")
    return Step("tasks.x.put.names", "names", "a", str(path), 1)


def test_a_question_names_one_person(tmp_path: Path) -> None:
    put = people(tmp_path / "p.csv", "group,name,they\na,Ann,she\na,Bob,he\nb,Cy,they\n")
    items = [
        choice(n, "What will {name} do when {they} arrives, and {name} alone?") for n in range(30)
    ]
    questions = {item.question for item in change_items(items, [put])}
    assert questions == {
        "What will Ann do when she arrives, and Ann alone?",
        "What will Bob do when he arrives, and Bob alone?",
    }


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("group,name\nb,Ann\n", "has no group 'a'; its groups are"),
        ("group\na\n", "add one for a slot"),
        ("group,name\na,\n", "an empty cell in the column 'name'"),
        ("group,person\na,Ann\n", "no question of the task has a slot"),
    ],
)
def test_mistakes_in_tables_of_people(tmp_path: Path, table: str, words: str) -> None:
    with pytest.raises(StudyError, match=words):
        change_items([choice()], [people(tmp_path / "p.csv", table)])


# ---- translations --------------------------------------------------------------------------------

HEADER = "item_id,language,question,option_a,option_b,gold\n"


def translated(folder: Path, text: str, **rows: str) -> Step:
    file = folder / "swahili.csv"
    file.write_text(HEADER + text, encoding="utf-8")
    source = TaskSource(format="items", dataset="swahili", files=[str(file)], rows=rows)
    return Step("tasks.sw.put.translated", "translated", source.model_dump(), None, 0)


def sky() -> Item:
    question = ChoiceQuestion("What colour is the sky?", ("Blue", "Green"), "A")
    prompt = plain_prompt(question)
    return Item("sky", "choice", question.text, prompt, ["Blue", "Green"], "A", "colours", "here")


TWO = "sky,sw,Anga lina rangi gani?,Buluu,Kijani,A\nsky,zu,Uyini?,Luhlaza,Okunye,A\n"


def test_a_translation_brings_question_and_options(tmp_path: Path) -> None:
    [changed] = change_items([sky()], [translated(tmp_path, TWO, language="sw")])
    assert changed.choices == ["Buluu", "Kijani"]
    assert changed.prompt.startswith("Anga lina rangi gani?\nA. Buluu\nB. Kijani")
    assert (changed.item_id, changed.gold, changed.subject) == ("sky", "A", "colours")
    assert changed.applied is True


@pytest.mark.parametrize(
    ("text", "rows", "words"),
    [
        ("moon,sw,Mwezi?,Buluu,Kijani,A\n", {}, "1 of 1 questions have no translation, .* 'sky'"),
        ("sky,sw,Anga?,Buluu,Kijani,B\n", {}, "has the right option B, not A"),
        (TWO, {}, "occurs twice"),
        (TWO, {"tongue": "sw"}, r"no column 'tongue', which `rows.tongue`"),
    ],
)
def test_translations_that_do_not_fit(
    tmp_path: Path, text: str, rows: dict[str, str], words: str
) -> None:
    with pytest.raises(StudyError, match=words):
        change_items([sky()], [translated(tmp_path, text, **rows)])
