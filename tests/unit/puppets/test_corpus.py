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
    return [
        {"role": ("user", "assistant")[n % 2], "content": text} | fields
        for n, text in enumerate(texts)
    ]


def wildchat(**changes: Any) -> dict[str, Any]:
    fields = {"turn_identifier": 7, "timestamp": MAY, "hashed_ip": "ip-1", "toxic": False}
    row = {
        "conversation_hash": "abc",
        "model": "gpt-4-0314",
        "timestamp": MAY,
        "conversation": turns("hello", "hi", **fields),
        "turn": 1,
        "language": "English",
        "toxic": False,
        "redacted": False,
        "hashed_ip": "ip-1",
    }
    return row | changes


def without(row: dict[str, Any], *columns: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in columns}


def lmsys(**changes: Any) -> dict[str, Any]:
    row = {
        "conversation_id": "c1",
        "model": "vicuna-13b",
        "conversation": turns("hello", "hi"),
        "turn": 1,
        "language": "English",
        "openai_moderation": [{"flagged": False}, {"flagged": False}],
        "redacted": False,
    }
    return row | changes


def oasst(id: str, parent: str | None, role: str, text: str, **changes: Any) -> dict[str, Any]:
    row = {
        "message_id": id,
        "parent_id": parent,
        "user_id": f"by-{id}",
        "created_date": "2023-02-12T19:06:16.233571+00:00",
        "text": text,
        "role": role,
        "lang": "en",
        "rank": None,
        "deleted": False,
        "model_name": None,
        "message_tree_id": "t",
    }
    return row | changes


def test_a_wildchat_row_becomes_a_conversation(tmp_path: Path) -> None:
    (row,) = prepare(tmp_path, [wildchat()]).rows
    assert row == Conversation(
        conversation_id="abc-7",
        user_id="ip-1",
        started_at=MAY,
        language="English",
        model="gpt-4-0314",
        n_user_turns=1,
        n_tokens=(2 + 4) + (1 + 4),
        messages=[Message("user", "hello"), Message("assistant", "hi")],
    )


@pytest.mark.parametrize(
    ("row", "user_id"),
    [
        (wildchat(hashed_ip=None), "ip-1"),
        (without(wildchat(), "hashed_ip"), "ip-1"),
        (
            without(
                wildchat(
                    conversation=[
                        {"role": "assistant", "content": "hi", "hashed_ip": "server"},
                        {"role": "user", "content": "a", "hashed_ip": "mine"},
                    ]
                ),
                "hashed_ip",
            ),
            "mine",
        ),
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
    conversation = [
        {"role": role, "content": "x", "timestamp": time}
        for role, time in zip(("user", "assistant"), times, strict=True)
    ]
    row = wildchat(conversation=conversation, timestamp=whole)
    assert prepare(tmp_path, [row]).rows[0].started_at == started


def test_equal_hashes_are_told_apart_and_exact_repeats_dropped(tmp_path: Path) -> None:
    def turn(number: int) -> list[dict[str, Any]]:
        return turns("hello", "hi", turn_identifier=number)

    rows = [wildchat(conversation=turn(n)) for n in (1, 2, 1)]
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
    rows = [wildchat(conversation=conversation), wildchat(conversation=turns("fine"))]
    prepared = prepare(tmp_path, rows)
    assert [row.messages[0].content for row in prepared.rows] == ["fine"]
    assert prepared.funnel["readable"].rows_out == 1


@pytest.mark.parametrize(
    ("filters", "kept", "step"),
    [
        (filters_of(min_user_turns=2), "bc", "min_user_turns"),
        (filters_of(languages=["english", "French"]), "ac", "languages"),
        (filters_of(exclude_toxic=True), "bcd", "exclude_toxic"),
        (filters_of(exclude_redacted=True), "acd", "exclude_redacted"),
        (filters_of(models=["gpt-4*", "o1"]), "ab", "models"),
        (filters_of(started_after="2023-05-02"), "bc", "started_after"),
        (filters_of(started_before="2023-05-02"), "a", "started_before"),
    ],
)
def test_filters_keep_what_they_should(
    tmp_path: Path, filters: FiltersSection, kept: str, step: str
) -> None:
    two = turns("x", "y", "x", "y")
    rows = [
        wildchat(conversation=turns("a", "y"), toxic=True),
        wildchat(conversation=two, language="Chinese", redacted=True, timestamp=MAY.replace(day=2)),
        wildchat(
            conversation=two, language="FRENCH", model="gpt-3.5", timestamp=MAY.replace(day=3)
        ),
        wildchat(
            conversation=turns("d", "y"), language=None, model=None, timestamp=None, toxic=None
        ),
    ]
    for name, row in zip("abcd", rows, strict=True):
        row["conversation_hash"] = name
    prepared = prepare(tmp_path, rows, filters=filters)
    assert "".join(row.conversation_id[0] for row in prepared.rows) == kept
    assert prepared.funnel[step].rows_out == len(kept)


def test_conversations_that_are_too_long_are_left_out(tmp_path: Path) -> None:
    """A message is its bytes / 4 and 4 tokens more: these are 2 × 5, and 5 + 14."""
    rows = [
        wildchat(conversation=turns("fine", "yes")),
        wildchat(conversation=turns("x" * 40, "y")),
    ]
    for limit, n_rows in ((10, 1), (18, 1), (19, 2)):
        prepared = prepare(tmp_path, rows, filters=filters_of(max_tokens=limit))
        assert len(prepared.rows) == prepared.funnel["max_tokens"].rows_out == n_rows
    with pytest.raises(StudyError, match=r"no conversation is left after `max_tokens: 9`"):
        prepare(tmp_path, rows, filters=filters_of(max_tokens=9))


def test_user_turns_are_counted_whatever_the_corpus_says_of_them(tmp_path: Path) -> None:
    two = turns("x", "y", "X", "y", timestamp=MAY)
    rows = [
        wildchat(conversation_hash="a", turn=9),
        wildchat(conversation_hash="b", turn=1, conversation=two),
        wildchat(conversation_hash="c", turn=None, conversation=[*two, *two]),
    ]
    prepared = prepare(tmp_path, rows, filters=filters_of(min_user_turns=2))
    conversations = {row.conversation_id[0]: row.n_user_turns for row in prepared.rows}
    assert conversations == {"b": 2, "c": 4}
    assert prepared.funnel["min_user_turns"].rows_out == 2


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
    user = [b"lone \xed\xa0\xbd surrogate", b"nul \x00", b"\xff"]
    broken = [b"lone \xed\xa0\xbd surrogate", b"nul \x00 inside", "r\u0000\u2028😀".encode()]
    raw = pa.array(broken, pa.binary())
    text = pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())
    talk = pa.StructArray.from_arrays([pa.array(["user"] * 3), text], ["role", "content"])
    table = pa.table(
        {
            "conversation_hash": ["a", "b", "c"],
            "conversation": pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), talk),
            "hashed_ip": pa.Array.from_buffers(
                pa.string(), 3, pa.array(user, pa.binary()).buffers()
            ),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    rows = prepare(tmp_path, [tmp_path / "in.parquet"]).rows
    assert [row.user_id for row in rows] == ["lone ??? surrogate", "nul \x00", "?"]
    conversations = {row.conversation_id[0]: row.messages[0].content for row in rows}
    assert conversations == {
        "a": "lone ??? surrogate",
        "b": "nul \x00 inside",
        "c": "r\u0000\u2028😀",
    }


def test_files_with_other_columns_and_awkward_names_are_read_together(tmp_path: Path) -> None:
    newer = turns("b", "hi", hashed_ip="ip-9", system_fingerprint="fp", temperature=1.0)
    files = [
        write(tmp_path, [without(wildchat(), "redacted")], name="it's [1].parquet"),
        write(
            tmp_path,
            [without(wildchat(conversation_hash="new", conversation=newer), "hashed_ip")],
            name="other*.parquet",
        ),
    ]
    rows = prepare(tmp_path, files).rows
    assert [(row.conversation_id[:3], row.user_id) for row in rows] == [
        ("abc", "ip-1"),
        ("new", "ip-9"),
    ]


def test_how_a_corpus_is_cut_into_files_and_parts_does_not_show(tmp_path: Path) -> None:
    def row(n: int) -> dict[str, Any]:
        name = hashlib.md5(str(n % 1_400).encode()).hexdigest()  # the last hundred are repeats
        return wildchat(conversation_hash=name, conversation=turns(name * 400, "y"))

    rows, outputs = [row(n) for n in range(1_500)], []
    for n_files, memory, threads in (
        (1, "2GB", 1),
        (1, "128MB", 4),
        (2, "2GB", 4),
        (5, "128MB", 4),
    ):
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
    file = write(tmp_path, [wildchat(conversation=turns("word " * 100, "y"))])
    footer = pq.ParquetFile(file).metadata.row_group(0)
    (texts,) = [
        footer.column(n).total_uncompressed_size
        for n in range(footer.num_columns)
        if footer.column(n).path_in_schema.endswith("content")
    ]
    # as they are, and once more compressed
    n_needed = texts + texts // 2
    for free, fits in ((n_needed - 1, False), (n_needed, True)):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        if fits:
            assert len(prepare(tmp_path, [file]).rows) == 1
        else:
            with pytest.raises(
                StudyError,
                match=r"out\.parquet: the corpus needs about .* are free; free disk space",
            ):
                prepare(tmp_path, [file])
            assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("limit", [50_000, 130_000])
def test_a_disk_that_fills_up_is_named_and_nothing_is_left(tmp_path: Path, limit: int) -> None:
    texts = [random.Random(n).randbytes(40).hex() for n in range(1_000)]
    rows = [wildchat(conversation_hash=t, conversation=turns(t, "y")) for t in texts]
    file = write(tmp_path, rows)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        with pytest.raises(StudyError, match=r"out\.parquet: .*large"):
            prepare(tmp_path, [file])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "cannot be read"),
        (b"PAR1 not really PAR1", "cannot be read"),
    ],
)
def test_files_that_are_no_parquet_are_named(tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "bad.parquet"
    file.write_bytes(content)
    with pytest.raises(StudyError, match=problem) as caught:
        prepare(tmp_path, [file])
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("format", "row", "problem"),
    [
        ("wildchat", without(wildchat(), "conversation"), "no column conversation,"),
        ("wildchat", without(wildchat(), "conversation_hash"), "conversation_hash or"),
        (
            "oasst2",
            lmsys(),
            "no column message_id, parent_id, user_id, text, role, message_tree_id",
        ),
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


def real(name: str) -> Path:
    if not (REAL / name).exists():
        pytest.skip(f"{name} is not in ../shared/data")
    return REAL / name


@pytest.mark.real_data
def test_real_oasst2_messages_make_the_paths_that_plain_python_finds(tmp_path: Path) -> None:
    file = real("oasst2_messages_with_user_id.parquet")
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
