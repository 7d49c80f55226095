"""A row of WildChat as Python values, for the tools that filter and reshape row by row."""

from typing import Any

from corpus_job import MIN_USER_TURNS, ROLES

Turns = list[dict[str, Any]]


def is_wanted(talk: Turns) -> bool:
    """Whether a conversation is readable and has turns enough."""
    said = [turn["content"] for turn in talk if turn["role"].lower() == "user"]
    known = all(t["content"] is not None and t["role"].lower() in ROLES for t in talk)
    return (
        known and len(said) >= MIN_USER_TURNS and any(not text.isspace() for text in said if text)
    )


def reshape(row: dict[str, Any]) -> dict[str, Any]:
    """The columns that are written."""
    talk: Turns = row["conversation"]
    return {
        "conversation_id": f"{row['conversation_hash']}-{talk[0]['turn_identifier']}",
        "user_id": row["hashed_ip"],
        "started_at": min(turn["timestamp"] for turn in talk if turn["timestamp"] is not None),
        "language": row["language"],
        "model": row["model"],
        "n_user_turns": sum(turn["role"].lower() == "user" for turn in talk),
        "n_tokens": sum(-(-len(turn["content"].encode()) // 4) + 4 for turn in talk),
        "messages": [{"role": t["role"].lower(), "content": t["content"]} for t in talk],
    }
