"""Whether there are enough puppets is known before anybody is asked, and the sentence says what to do."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork import tables
from fieldwork.config.needs import Need
from fieldwork.errors import StudyError
from fieldwork.puppets.contexts import draw_random
from fieldwork.puppets.supply import (
    count_conversations,
    count_corpus,
    count_personas,
    puppet_counts,
    read_supplies,
    require_enough,
)
from fieldwork.records.puppets import PuppetCount
from fieldwork.sections.conditions import HistoryCondition

SAMPLE = Path(__file__).resolve().parents[3] / "resources" / "sample"
READING = {"format": None, "columns": {}, "roles": {}}
FLAGS = {"exclude_toxic": True, "exclude_redacted": True}
FILTERS = {"min_user_turns": 5, "languages": ["English"], **FLAGS}
USERS = Need("history_5", "mine", "users", 5, 3, "trivia", "min_user_turns: 5")
CONVERSATIONS = USERS._replace(unit="conversations", at_least=1, n_needed=12)
PERSONAS = USERS._replace(unit="personas", at_least=1)


def test_the_sample_has_the_users_that_the_stage_would_draw() -> None:
    supply = count_corpus([SAMPLE / "conversations.parquet"], READING, FILTERS)
    assert (len(supply), sum(supply), sum(n >= 5 for n in supply)) == (57, 232, 21)
    users = {str(n): [f"{n}-{c}" for c in range(count)] for n, count in enumerate(supply)}
    condition = HistoryCondition(label="History", context="history", conversations=5)
    assert len(draw_random(users, 21, condition, 1)) == 21
    with pytest.raises(StudyError, match="has 21 users with at least 5"):
        draw_random(users, 22, condition, 1)


def test_a_table_of_counts_says_what_there_is(tmp_path: Path) -> None:
    needs = [USERS, CONVERSATIONS, PERSONAS._replace(source="people", n_needed=2, filters="")]
    supplies = {"mine": [5, 6, 1, 5], "people": [1, 1]}
    require_enough(needs, supplies)
    counts = list(puppet_counts(supplies, {"mine": USERS.filters}))
    assert counts == [
        PuppetCount("mine", USERS.filters, "users", 1, 4),
        PuppetCount("mine", USERS.filters, "users", 5, 3),
        PuppetCount("mine", USERS.filters, "users", 6, 1),
        PuppetCount("people", "", "personas", 1, 2),
    ]
    tables.write_table(tmp_path / "puppets.csv", counts, PuppetCount)
    earlier = read_supplies(tmp_path / "puppets.csv", needs)
    sizes = {name: sorted(supply) for name, supply in earlier.items()}
    assert sizes == {"mine": [1, 5, 5, 6], "people": [1, 1]}
    stricter = USERS._replace(filters="languages: Dutch")
    assert read_supplies(tmp_path / "puppets.csv", [stricter]) == {}


@pytest.mark.parametrize(
    ("need", "supply", "need_sentence", "way_out"),
    [
        (USERS, [5, 4, 1, 9], "needs 3 users with 5 conversations or more", "set tasks.trivia.runs to 2"),
        (USERS._replace(at_least=1), [1, 1], "needs 3 users (tasks.trivia.runs)", "or less, loosen"),
        (CONVERSATIONS, [5, 6], "needs 12 conversations", "lower tasks.trivia.runs or conditions.hist"),
        (PERSONAS, [1], "needs 3 personas", "has 1 distinct ones; set tasks.trivia.runs to 1 or less"),
    ],
)  # fmt: skip
def test_too_few_is_one_sentence_with_the_way_out(
    need: Need, supply: list[int], need_sentence: str, way_out: str
) -> None:
    with pytest.raises(StudyError) as caught:
        require_enough([need], {"mine": supply})
    assert str(caught.value).startswith(f"conditions.history_5 {need_sentence}")
    assert way_out in str(caught.value)


def test_nobody_at_all_is_not_to_be_asked(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"has 0 after its filters .*; lower"):
        require_enough([USERS], {"mine": []})
    (tmp_path / "a.jsonl").write_text('{"messages": [{"role": "user", "content": "hi"}]}')
    with pytest.raises(StudyError, match="no conversation is left after `min_user_turns: 5`"):
        count_corpus([tmp_path / "a.jsonl"], READING, FILTERS)


def test_users_and_personas_are_counted_as_they_are_drawn(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("A nurse\na nurse \n\nA farmer\n")
    assert list(count_personas([tmp_path / "p.txt"], None)) == [1, 1]
    columns = {"user_id": ["a", "b", "a"], "conversation_id": ["1", "2", "3"]}
    pq.write_table(pa.table(columns), tmp_path / "c.parquet")
    assert sorted(count_conversations(tmp_path / "c.parquet")) == [1, 2]
