"""The corpus table from each public schema: who the user is, what is kept, what is said."""

import hashlib
import math
import random
import resource
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork.errors import StudyError
from fieldwork.puppets import corpus
from fieldwork.puppets.corpus import prepare_corpus
from fieldwork.records.puppets import Conversation, FunnelStep, Message
from fieldwork.sections.corpora import FiltersSection
from fieldwork.tables import read_rows
from unit.puppets.corpus_filters import filters_of

REAL = Path(__file__).parents[4] / "shared" / "data" / "conversations"
MAY = datetime(2023, 5, 1, 12, tzinfo=UTC)
ALL = filters_of()


@pytest.fixture(autouse=True)
def ids_as_in_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that tests can say whose conversation is which; test_pseudonyms.py has the real macro."""
    plain = "CREATE MACRO pseudonym(letter, id) AS id::VARCHAR"
    monkeypatch.setattr(corpus, "pseudonym_macro", lambda _: plain)


class Prepared(NamedTuple):
    rows: list[Conversation]
    funnel: dict[str, FunnelStep]


def prepare(
    tmp_path: Path,
    rows: Sequence[dict[str, Any]] | Sequence[Path],
    *,
    filters: FiltersSection = ALL,
    format: str = "wildchat",
    memory_limit: str = "500MB",
) -> Prepared:
    files = [row for row in rows if isinstance(row, Path)] or [write(tmp_path, rows)]
    out = tmp_path / "out.parquet"
    funnel = prepare_corpus(
        files, format=format, filters=filters, out=out, memory_limit=memory_limit, threads=1
    )
    return Prepared(read_rows(out, Conversation), {step.filter: step for step in funnel})


def write(tmp_path: Path, rows: Sequence[Any], name: str = "in.parquet") -> Path:
    pq.write_table(pa.Table.from_pylist(list(rows)), tmp_path / name)
    return tmp_path / name


def turns(*texts: str | None, **fields: Any) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} | fields for n, text in enumerate(texts)]


def without(row: dict[str, Any], *columns: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in columns}


def wildchat(*texts: str | None, **changes: Any) -> dict[str, Any]:
    fields = {"turn_identifier": 7, "timestamp": MAY, "hashed_ip": "ip-1", "toxic": False}
    return {
        **{"conversation_hash": "abc", "model": "gpt-4-0314", "timestamp": MAY, "turn": 1},
        **{"language": "English", "toxic": False, "redacted": False, "hashed_ip": "ip-1"},
        "conversation": turns(*texts) if texts else turns("hello", "hi", **fields),
        **changes,
    }


def lmsys(**changes: Any) -> dict[str, Any]:
    return {
        **{"conversation_id": "c1", "model": "vicuna-13b", "turn": 1, "language": "English"},
        **{"conversation": turns("hello", "hi"), "redacted": False},
        "openai_moderation": [{"flagged": False}, {"flagged": False}],
        **changes,
    }


def oasst(id: str, parent: str | None, role: str, text: str, **changes: Any) -> dict[str, Any]:
    return {
        **{"message_id": id, "parent_id": parent, "role": role, "text": text, "lang": "en"},
        **{"created_date": "2023-02-12T19:06:16.233571+00:00", "user_id": f"by-{id}"},
        **{"rank": None, "deleted": False, "model_name": None, "message_tree_id": "t"},
        **changes,
    }


def test_a_wildchat_row_becomes_a_conversation(tmp_path: Path) -> None:
    (row,) = prepare(tmp_path, [wildchat()]).rows
    messages = [Message("user", "hello"), Message("assistant", "hi")]
    n_tokens = (2 + 4) + (1 + 4)
    assert row == Conversation("abc-7", "ip-1", MAY, "English", "gpt-4-0314", 1, n_tokens, messages)


OF_SERVER = {"role": "assistant", "content": "hi", "hashed_ip": "server"}
OF_USER = {"role": "user", "content": "a", "hashed_ip": "mine"}


@pytest.mark.parametrize(
    ("row", "user_id"),
    [
        (wildchat(hashed_ip=None), "ip-1"),
        (without(wildchat(), "hashed_ip"), "ip-1"),
        (without(wildchat(conversation=[OF_SERVER, OF_USER]), "hashed_ip"), "mine"),
    ],
)
@pytest.mark.parametrize("format", ["wildchat", "wildchat_4_8m"])
def test_the_user_is_the_hashed_address(
    tmp_path: Path, row: dict[str, Any], user_id: str, format: str
) -> None:
    assert prepare(tmp_path, [row], format=format).rows[0].user_id == user_id


@pytest.mark.parametrize(
    ("times", "whole", "started"),
    [
        ((None, MAY), MAY.replace(hour=20), MAY),
        ((MAY, MAY.replace(hour=1)), MAY, MAY.replace(hour=1)),
        ((None, None), MAY, MAY),
        ((None, None), "2023-05-01T14:00:00+02:00", MAY),
        ((None, None), "soon", None),
    ],
)
def test_a_conversation_starts_with_its_first_dated_turn(
    tmp_path: Path, times: tuple[Any, Any], whole: Any, started: datetime | None
) -> None:
    conversation = turns("x", "x")
    for turn, time in zip(conversation, times, strict=True):
        turn["timestamp"] = time
    row = wildchat(conversation=conversation, timestamp=whole)
    assert prepare(tmp_path, [row]).rows[0].started_at == started


def test_equal_hashes_are_told_apart_and_exact_repeats_dropped(tmp_path: Path) -> None:
    rows = [wildchat(conversation=turns("hello", "hi", turn_identifier=n)) for n in (1, 2, 1)]
    prepared = prepare(tmp_path, rows)
    assert [row.conversation_id for row in prepared.rows] == ["abc-1", "abc-2"]
    assert (prepared.funnel["distinct"].rows_in, prepared.funnel["distinct"].rows_out) == (3, 2)


@pytest.mark.parametrize(
    "conversation",
    [
        None,
        turns(None, "hi"),
        turns(" \n\t", "hi"),
        [{"role": "assistant", "content": "hi"}],
        [{"role": None, "content": "hi"}, *turns("hello")],
        [{"role": "narrator", "content": "hi"}, *turns("hello")],
    ],
)
def test_unreadable_conversations_are_dropped(tmp_path: Path, conversation: Any) -> None:
    prepared = prepare(tmp_path, [wildchat(conversation=conversation), wildchat("fine")])
    assert [row.messages[0].content for row in prepared.rows] == ["fine"]
    assert prepared.funnel["readable"].rows_out == 1


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ({"min_user_turns": 2}, "bc"),
        ({"languages": ["english", "French"]}, "ac"),
        ({"exclude_toxic": True}, "bcd"),
        ({"exclude_redacted": True}, "acd"),
        ({"models": ["gpt-4*", "o1"]}, "ab"),
        ({"started_after": "2023-05-02"}, "bc"),
        ({"started_before": "2023-05-02"}, "a"),
    ],
)
def test_filters_keep_what_they_should(tmp_path: Path, filters: Any, kept: str) -> None:
    second, third = MAY.replace(day=2), MAY.replace(day=3)
    nothing = {"language": None, "model": None, "timestamp": None, "toxic": None}
    two = ("x", "y", "x", "y")
    rows = [
        # whatever the corpus says of its turns
        wildchat("a", "y", toxic=True, conversation_hash="a", turn=9),
        wildchat(*two, language="Chinese", redacted=True, timestamp=second, conversation_hash="b"),
        wildchat(*two, language="FRENCH", model="gpt-3.5", timestamp=third, conversation_hash="c"),
        wildchat("d", "y", **nothing, conversation_hash="d"),
    ]
    prepared = prepare(tmp_path, rows, filters=filters_of(**filters))
    assert "".join(row.conversation_id[0] for row in prepared.rows) == kept
    assert {row.n_user_turns for row in prepared.rows if row.conversation_id[0] in "bc"} <= {2}
    (step,) = filters
    assert prepared.funnel[step].rows_out == len(kept)


def test_conversations_that_are_too_long_are_left_out(tmp_path: Path) -> None:
    """A message is its bytes / 4 and 4 tokens more: these are 2 × 5, and 5 + 14."""
    rows = [wildchat("fine", "yes"), wildchat("x" * 40, "y")]
    for limit, n_rows in ((10, 1), (18, 1), (19, 2)):
        prepared = prepare(tmp_path, rows, filters=filters_of(max_tokens=limit))
        assert len(prepared.rows) == prepared.funnel["max_tokens"].rows_out == n_rows
    with pytest.raises(StudyError, match=r"no conversation is left after `max_tokens: 9`"):
        prepare(tmp_path, rows, filters=filters_of(max_tokens=9))


def test_lmsys_conversations_are_users_of_their_own_and_have_no_date(tmp_path: Path) -> None:
    rows = [
        lmsys(),
        lmsys(conversation_id="c2"),
        lmsys(conversation_id="c3", openai_moderation=[{"flagged": False}, {"flagged": True}]),
    ]
    filters = filters_of(exclude_toxic=True, started_after="2023-01-01")
    prepared = prepare(tmp_path, rows, filters=filters, format="lmsys")
    assert [row.conversation_id for row in prepared.rows] == ["c1", "c2"]
    assert prepared.rows[0].user_id == "c1"
    assert prepared.rows[0].started_at is None
    assert prepared.funnel["started_after"].setting == "2023-01-01 (not in this corpus)"


def test_an_oasst2_tree_becomes_the_path_of_best_ranked_replies(tmp_path: Path) -> None:
    rows = [
        oasst("a2", "t", "assistant", "second", rank=1.0),
        oasst("a1", "t", "assistant", "best", rank=0.0, model_name="m"),
        oasst("t", None, "prompter", "question", user_id="asker", lang="cs"),
        oasst("p3", "a1", "prompter", "unranked, later id"),
        oasst("p2", "a1", "prompter", "unranked, first id"),
        oasst("p1", "a1", "prompter", "deleted", deleted=True),
        oasst("a9", "p2", "assistant", "unranked"),
        oasst("a8", "p2", "assistant", "ranked", rank=3.0),
        oasst("orphan", "gone", "prompter", "no root", message_tree_id="u"),
        oasst("v", None, "prompter", "deleted root", message_tree_id="v", deleted=True),
    ]
    prepared = prepare(tmp_path, rows, format="oasst2")
    (row,) = prepared.rows
    assert [(m.role, m.content) for m in row.messages] == [
        ("user", "question"),
        ("assistant", "best"),
        ("user", "unranked, first id"),
        ("assistant", "ranked"),
    ]
    assert (row.conversation_id, row.user_id, row.language, row.model) == ("t", "asker", "cs", "m")
    assert row.started_at == datetime(2023, 2, 12, 19, 6, 16, 233571, tzinfo=UTC)
    first = prepared.funnel["rows read"]
    assert (first.rows_in, first.rows_out, prepared.funnel["readable"].rows_out) == (10, 3, 1)


def test_odd_text_does_not_crash(tmp_path: Path) -> None:
    def raw(texts: list[bytes]) -> pa.Array:
        return pa.Array.from_buffers(pa.string(), 3, pa.array(texts, pa.binary()).buffers())

    broken = [b"lone \xed\xa0\xbd surrogate", b"nul \x00 inside", "r\u0000\u2028😀".encode()]
    roles = pa.array(["user"] * 3)
    talk = pa.StructArray.from_arrays([roles, raw(broken)], ["role", "content"])
    columns = {
        "conversation_hash": ["a", "b", "c"],
        "conversation": pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), talk),
        "hashed_ip": raw([*broken[:1], b"nul \x00", b"\xff"]),
    }
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")
    rows = prepare(tmp_path, [tmp_path / "in.parquet"]).rows
    assert [(row.conversation_id[0], row.user_id, row.messages[0].content) for row in rows] == [
        ("a", "lone ??? surrogate", "lone ??? surrogate"),
        ("b", "nul \x00", "nul \x00 inside"),
        ("c", "?", "r\u0000\u2028😀"),
    ]


def test_files_with_other_columns_and_awkward_names_are_read_together(tmp_path: Path) -> None:
    newer = turns("b", "hi", hashed_ip="ip-9", system_fingerprint="fp", temperature=1.0)
    new = without(wildchat(conversation_hash="new", conversation=newer), "hashed_ip")
    files = [
        write(tmp_path, [without(wildchat(), "redacted")], name="it's [1].parquet"),
        write(tmp_path, [new], name="other*.parquet"),
    ]
    rows = prepare(tmp_path, files).rows
    users = [(row.conversation_id[:3], row.user_id) for row in rows]
    assert users == [("abc", "ip-1"), ("new", "ip-9")]


def test_how_a_corpus_is_cut_into_files_and_parts_does_not_show(tmp_path: Path) -> None:
    # the last hundred are repeats
    names = [hashlib.md5(str(n % 1_400).encode()).hexdigest() for n in range(1_500)]
    rows = [wildchat(name * 400, "y", conversation_hash=name) for name in names]
    outputs = []
    for n_files, memory, threads in ((1, "2GB", 1), (1, "128MB", 4), (5, "128MB", 4)):
        files = [tmp_path / f"in{k}.parquet" for k in range(n_files)]
        for k, file in enumerate(files):
            pq.write_table(pa.Table.from_pylist(rows[k::n_files]), file, row_group_size=100)
        out = tmp_path / "out.parquet"
        funnel = prepare_corpus(
            files, format="wildchat", filters=ALL, out=out, memory_limit=memory, threads=threads
        )
        assert [step.rows_out for step in funnel[-4:-1]] == [1_500, 1_500, 1_400]
        outputs.append(out.read_bytes())
    assert all(output == outputs[0] for output in outputs)
    assert not list(tmp_path.glob(".*"))


def test_what_a_killed_run_left_on_the_disk_goes(tmp_path: Path) -> None:
    left = tmp_path / ".out.parquet.parts"
    left.mkdir()
    (left / "000007.arrow").write_bytes(b"half a part")
    assert len(prepare(tmp_path, [wildchat()]).rows) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.parquet", "out.parquet"]


def test_a_disk_that_is_too_small_is_told_of_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, [wildchat("word " * 100, "y")])
    footer = pq.ParquetFile(file).metadata.row_group(0)
    columns = [footer.column(n) for n in range(footer.num_columns)]
    (content,) = [one for one in columns if one.path_in_schema.endswith("content")]
    texts = content.total_uncompressed_size
    # as they are, and once more compressed
    disk = SimpleNamespace(free=texts + texts // 2 - 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: disk)
    needs = r"out\.parquet: the corpus needs about .* are free; free disk space"
    with pytest.raises(StudyError, match=needs):
        prepare(tmp_path, [file])
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    disk.free += 1
    assert len(prepare(tmp_path, [file]).rows) == 1


@pytest.mark.parametrize("limit", [50_000, 130_000])
def test_a_disk_that_fills_up_is_named_and_nothing_is_left(tmp_path: Path, limit: int) -> None:
    texts = [random.Random(n).randbytes(40).hex() for n in range(1_000)]
    file = write(tmp_path, [wildchat(t, "y", conversation_hash=t) for t in texts])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        with pytest.raises(StudyError, match=r"out\.parquet: .*large"):
            prepare(tmp_path, [file])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("content", [b"", b"PAR1 not really PAR1"])
def test_files_that_are_no_parquet_are_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bad.parquet"
    file.write_bytes(content)
    with pytest.raises(StudyError, match=r"^[^\n]*bad\.parquet[^\n]*cannot be read[^\n]*$"):
        prepare(tmp_path, [file])


OF_OASST = "message_id, parent_id, user_id, text, role, message_tree_id"


@pytest.mark.parametrize(
    ("format", "row", "problem"),
    [
        ("wildchat", without(wildchat(), "conversation"), "no column conversation,"),
        ("wildchat", without(wildchat(), "conversation_hash"), "conversation_hash or"),
        ("oasst2", lmsys(), f"no column {OF_OASST}"),
        ("sharegpt", lmsys(), "`format: sharegpt` is unknown; choose one of wildchat"),
    ],
)
def test_columns_missing_for_the_format_are_named(
    tmp_path: Path, format: str, row: dict[str, Any], problem: str
) -> None:
    with pytest.raises(StudyError, match=problem):
        prepare(tmp_path, [row], format=format)


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ([], "no files"),
        ([Path("nowhere.parquet")], "nowhere.parquet: the file does not exist"),
    ],
)
def test_files_that_are_not_there_are_named(
    tmp_path: Path, files: list[Path], problem: str
) -> None:
    with pytest.raises(StudyError, match=problem):
        prepare_corpus(files, format="wildchat", filters=ALL, out=tmp_path / "out.parquet")


@pytest.mark.real_data
@pytest.mark.skipif(not REAL.is_dir(), reason="no real extracts at ../shared/data")
def test_real_oasst2_messages_make_the_paths_that_plain_python_finds(tmp_path: Path) -> None:
    file = REAL / "oasst2_messages_with_user_id.parquet"
    messages = pq.read_table(file).to_pylist()
    replies: dict[str, list[dict[str, Any]]] = {}
    for message in messages:
        if message["parent_id"] and not message["deleted"]:
            replies.setdefault(message["parent_id"], []).append(message)

    def best(reply: dict[str, Any]) -> tuple[float, str]:
        return (math.inf if reply["rank"] is None else reply["rank"], reply["message_id"])

    expected = {}
    for root in messages:
        if root["message_id"] != root["message_tree_id"] or root["deleted"]:
            continue
        path = [root]
        while path[-1]["message_id"] in replies:
            path.append(min(replies[path[-1]["message_id"]], key=best))
        expected[root["message_tree_id"]] = [message["text"] for message in path]
    rows = prepare(tmp_path, [file], format="oasst2").rows
    assert {row.conversation_id: [m.content for m in row.messages] for row in rows} == expected
