"""What is in somebody's files of conversations and personas, before a study is written for them."""

import json
from pathlib import Path
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.puppets.inspection import PersonaGuess, guess_corpus, guess_personas


def talk(n: int) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[k % 2], "content": f"m{k}"} for k in range(2 * n)]


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_users_are_counted_by_how_much_they_say(tmp_path: Path) -> None:
    rows = [{"id": n, "person": n % 3, "messages": talk(n)} for n in range(1, 7)]
    guess = guess_corpus([lines(tmp_path / "a.jsonl", rows)])
    assert (guess.format, guess.n_conversations) == ("messages", 6)
    assert dict(guess.users) == {1: 3, 2: 3, 3: 3, 4: 3, 5: 2}
    columns = {"messages": "messages", "conversation": "id", "user": "person"}
    assert guess.columns == columns | {"role": "role", "text": "content"}
    assert guess.flags == frozenset()


def test_columns_are_named_where_they_are_the_same_in_all_files(tmp_path: Path) -> None:
    one = lines(tmp_path / "a.jsonl", [{"messages": talk(1)}])
    two = lines(tmp_path / "b.jsonl", [{"messages": talk(2), "user": "u"}])
    assert guess_corpus([one]).columns
    assert guess_corpus([one, two]).columns == {}


def test_an_export_has_no_columns(tmp_path: Path) -> None:
    message = {"author": {"role": "user"}, "content": {"parts": ["hi"]}}
    tree = {"id": "c", "mapping": {"a": {"message": message, "parent": None}}, "current_node": "a"}
    (tmp_path / "conversations.json").write_text(json.dumps([tree]))
    guess = guess_corpus([tmp_path / "conversations.json"])
    assert (guess.format, dict(guess.columns), guess.users[1]) == ("chatgpt", {}, 1)


@pytest.mark.parametrize(
    ("name", "content", "column"),
    [
        ("p.txt", "A nurse\nA farmer\n\nA nurse\n", None),
        ("p.csv", "persona\nA nurse\nA farmer\n", "persona"),
        ("p.csv", "anything\nA nurse\nA farmer\n", "anything"),
        ("p.csv", "Nr;Beschreibung\n1;A nurse\n2;A farmer\n", "Beschreibung"),
        ("p.jsonl", '{"id": 1, "Persona": "A nurse"}\n{"id": 2, "Persona": "A farmer"}', "Persona"),
        ("p.json", '["A nurse", "A farmer"]', None),
    ],
)
def test_personas_of_every_kind(
    tmp_path: Path, name: str, content: str, column: str | None
) -> None:
    (tmp_path / name).write_text(content)
    assert guess_personas(tmp_path / name) == PersonaGuess(column, 2)


def test_a_table_without_personas_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("a,b\n1,2\n")
    words = r"p\.csv: no column has a usual name of personas \(there are a, b"
    with pytest.raises(StudyError, match=words):
        guess_personas(tmp_path / "p.csv")
