"""ChatGPT's export: the path that the user kept, and of it what user and assistant said."""

from datetime import UTC, datetime
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.puppets.conversations.chatgpt import TreeReader, is_export
from fieldwork.puppets.conversations.chats import Chat

START = 1_700_000_000


def message(role: str, *parts: Any, kind: str = "text", **more: Any) -> dict[str, Any]:
    """A message as exports have them."""
    return {
        "author": {"role": role, "name": None, "metadata": {}},
        "content": {"content_type": kind, "parts": list(parts)},
        **{"create_time": START, "recipient": "all", "metadata": {}},
        **more,
    }


def node(name: str, parent: str | None, content: Any, *children: str) -> dict[str, Any]:
    return {"id": name, "message": content, "parent": parent, "children": list(children)}


def conversation(*nodes: dict[str, Any], current: Any = None, **more: Any) -> dict[str, Any]:
    return {
        **{"title": "A title", "create_time": START - 10, "conversation_id": "c1"},
        **{"mapping": {n["id"]: n for n in nodes}, "current_node": current},
        **more,
    }


def chain(*messages: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """A conversation without branches."""
    names = [f"n{n}" for n in range(len(messages))]
    nodes = [
        node(name, names[n - 1] if n else None, content, *names[n + 1 : n + 2])
        for n, (name, content) in enumerate(zip(names, messages, strict=True))
    ]
    return conversation(*nodes, current=names[-1], **more)


def read(value: dict[str, Any]) -> Chat:
    return TreeReader().read(value, "someone", "a.json: entry 1")


def content(value: dict[str, Any]) -> list[tuple[str | None, str | None]]:
    return [(m["role"], m["content"]) for m in read(value).messages]


# two answers to a question, of which the first was kept, and one that was written anew
BRANCHES = [
    node("root", None, None, "sys"),
    node("sys", "root", message("system", ""), "q"),
    node("q", "sys", message("user", "Which?"), "a1", "a2"),
    node("a1", "q", message("assistant", "This."), "q2", "q2new"),
    node("a2", "q", message("assistant", "That.")),
    node("q2", "a1", message("user", "Why?"), "a3"),
    node("a3", "q2", message("assistant", "Because.")),
    node("q2new", "a1", message("user", "How?")),
]
FIRST = [("user", "Which?"), ("assistant", "This.")]
LAST = [("user", "Which?"), ("assistant", "That.")]


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        ("a3", [*FIRST, ("user", "Why?"), ("assistant", "Because.")]),
        ("q2new", [*FIRST, ("user", "How?")]),
        ("a1", FIRST),
        # without a current node the last branch counts
        *((current, LAST) for current in (None, "gone", 7)),
    ],
)
def test_the_path_to_the_current_node_is_the_conversation(
    current: Any, expected: list[tuple[str, str]]
) -> None:
    assert content(conversation(*BRANCHES, current=current)) == expected


def test_what_a_conversation_is_called_and_when_it_began() -> None:
    asked = message("user", "hi", create_time=START + 60)
    answered = message("assistant", "hello", create_time=None, metadata={"model_slug": "gpt-4o"})
    started = datetime.fromtimestamp(START + 60, UTC)
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    chat = read(chain(None, asked, answered, default_model_slug="auto"))
    assert chat == Chat("c1", "someone", started, None, "gpt-4o", None, None, messages)
    undated = [dict(m, create_time=None) for m in (asked, answered)]
    assert read(chain(*undated)).started_at == datetime.fromtimestamp(START - 10, UTC)
    assert read(chain(*undated, create_time=None)).started_at is None
    bare = chain(message("user", "hi"), default_model_slug="auto", conversation_id=None, id="c2")
    assert (read(bare).conversation_id, read(bare).model) == ("c2", "auto")


HIDDEN = [
    message("system", "You are ChatGPT."),
    message("tool", "found"),
    message("assistant", "search()", recipient="browser"),
    message("assistant", "print()", kind="code", recipient="python"),
    message("assistant", "x = 1", kind="code"),
    message("assistant", kind="thoughts"),
    message("assistant", kind="reasoning_recap"),
    message("assistant", "I think", channel="analysis"),
    message("user", kind="user_editable_context"),
    message("user", "About me", metadata={"is_user_system_message": True}),
    message("user", "hi", metadata={"is_visually_hidden_from_conversation": True}),
    message("user", ""),
    message("user"),
    message("user", {"content_type": "image_asset_pointer", "asset_pointer": "file://x"}),
    message("user", "hi", author=None),
    message("user", "hi", content=None),
    message("user", "hi", content={"content_type": "text", "parts": None}),
]


@pytest.mark.parametrize("hidden", HIDDEN, ids=range(len(HIDDEN)))
def test_what_nobody_said_to_the_other_is_left_out_and_counted(hidden: dict[str, Any]) -> None:
    reader = TreeReader()
    chat = reader.read(chain(None, message("user", "hi"), hidden), "someone", "x")
    assert chat.messages == [{"role": "user", "content": "hi"}]
    assert reader.left_out.total() == 1


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (["a", {"content_type": "image_asset_pointer"}, "b"], "a\n\nb"),
        ([{"content_type": "audio_transcription", "text": "spoken"}], "spoken"),
        (["a \ue200cite\ue202turn0search1\ue202turn0search2\ue201b"], "a b"),
        (['in \ue200entity\ue202["city","Paris","capital"]\ue201.'], "in Paris."),
        (["\ue200url\ue202A page\ue202turn0search1\ue201"], "A page"),
        (["\ue200entity\ue202no list\ue201x\ue203"], "x"),
        (["  kept as it is\n"], "  kept as it is\n"),
    ],
)
def test_of_a_message_the_text_that_a_reader_sees(parts: list[Any], text: str) -> None:
    for kind in ("text", "multimodal_text"):
        assert content(chain(message("user", *parts, kind=kind))) == [("user", text)]


@pytest.mark.parametrize(
    "nodes",
    [
        [],
        [node("a", "b", message("user", "x"), "b"), node("b", "a", None, "a")],
        [node("a", "a", None, "a")],
        [node("a", None, None, "gone")],
        [node("a", "gone", None)],
    ],
)
@pytest.mark.parametrize("current", [None, "a"])
def test_a_broken_tree_ends(nodes: list[dict[str, Any]], current: str | None) -> None:
    assert len(read(conversation(*nodes, current=current)).messages) <= 1


def test_an_entry_that_is_no_conversation_is_refused() -> None:
    assert is_export(conversation(*BRANCHES))
    for value in ({"messages": []}, {"mapping": []}, None, "x", 7):
        assert not is_export(value)
        with pytest.raises(StudyError, match=r"^a\.json: entry 1 has no `mapping`"):
            TreeReader().read(value, "someone", "a.json: entry 1")


def test_nodes_of_another_form_are_passed_over() -> None:
    value = {"mapping": {"a": None, "b": {"parent": "a", "message": "text"}}, "current_node": "b"}
    assert read(value).messages == []
    value = {"mapping": {"a": [], "b": {"parent": None, "children": [7, "a"]}}}
    assert read(value).messages == []
