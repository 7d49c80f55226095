"""Questions that would be asked otherwise than they are meant are refused before anything is paid."""

from pathlib import Path
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.records.tasks import Item
from fieldwork.tasks.own_items import require_distinct, require_sound
from unit.tasks.task_sources import items_of

SOUND: dict[str, Any] = {
    **{
        "item_id": "q",
        "kind": "choice",
        "question": "Which?\n\tOne:",
        "prompt": "Which?\r\nA or B",
    },
    **{"choices": ["AA", "Aa", "aa "], "gold": None, "subject": None},
    "provenance": "mine: items.csv",
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"choices": ["yes", "no", "yes"]}, "options A and C have the same text 'yes'"),
        ({"choices": ["yes", "y\u200bes\ufeff"]}, "options A and B have the same text 'yes'"),
        ({"choices": ["yes", " yes"]}, "options A and B have the same text 'yes'"),
        ({"question": "Which\x00?"}, "control character U+0000"),
        ({"prompt": "\x1b[31mWhich?"}, "control character U+001B"),
        ({"item_id": "q "}, "begins or ends with a space"),
    ],
)
def test_a_question_that_does_not_say_what_is_meant(change: dict[str, Any], words: str) -> None:
    item = Item(**SOUND | change)
    with pytest.raises(StudyError) as caught:
        require_sound([Item(**SOUND), item])
    assert str(caught.value).startswith(f"mine: items.csv: item {item.item_id!r}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (["q", "q"], "'q' occurs twice; rename one"),
        (["q 1", "q  1"], "'q  1' occurs twice (as 'q 1', with other spaces); rename one"),
        (["q", "q\u200b"], r"'q\u200b' occurs twice (as 'q', with other spaces); rename one"),
    ],
)
def test_ids_that_differ_by_blanks_are_one(ids: list[str], words: str) -> None:
    require_distinct([Item(**SOUND | {"item_id": item_id}) for item_id in ("q", "Q")])
    with pytest.raises(StudyError) as caught:
        require_distinct([Item(**SOUND | {"item_id": item_id}) for item_id in ids])
    assert str(caught.value) == f"mine: items.csv: item_id {words}"


def test_a_rule_that_no_row_fits_says_what_the_column_has(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = "item_id,question,language\n1,Hva?,no\n2,What?,en\n3,Was?,de\n"
    with pytest.raises(StudyError) as caught:
        items_of(tmp_path, text, kind="list", rows={"language": "False"})
    assert str(caught.value) == (
        "rows of the task's source mine: none of the 3 rows in items.csv has these values; correct them "
        "(language has 'no', 'en', 'de')"
    )
    for languages, n in ((["no", "en"], 2), (["nb", "en"], 1)):
        assert caplog.text == ""
        assert len(items_of(tmp_path, text, kind="list", rows={"language": languages})) == n
    assert "no row of items.csv has nb; the column has 'no', 'en', 'de'" in caplog.text
