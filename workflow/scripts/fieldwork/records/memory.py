"""Rows of the tables of memory: what is known of users from their conversations.

A model reads conversations and states attributes of the user (`Statement`). Near-equal statements of one
user become one attribute. What a puppet brings to a question is the text of all its attributes, or of
those selected for the question.
"""

from datetime import datetime
from typing import Literal

from fieldwork.records.columns import Name, column, row, table

AttributeKind = Literal["fact", "preference", "interest", "plan"]

MemoryStage = Literal["read", "verified"]


@row
class Evidence:
    """A turn that shows an attribute."""

    conversation_id: Name = column("the conversation")
    turn: int = column("number of the message in the conversation, from 1")


@table("memory/users.parquet", "place", part="memory")
class MemoryUser:
    """A user whose conversations are read."""

    place: int = column("order in which users become puppets, from 0")
    user_id: Name = column("the user, who is the puppet")
    n_conversations: int = column("conversations in the corpus, after its filters")
    n_long: int = column("conversations left unread because they are longer than `memory.longest`")
    conversation_ids: list[Name] = column("conversations that are read, the oldest first")


@table("memory/statements.parquet", "user_id, conversation_id, place", part="memory")
class Statement:
    """What a model states of a user after reading a conversation."""

    user_id: Name = column("the user")
    conversation_id: Name = column("the conversation")
    place: int = column("place of the statement in the model's reply, from 0")
    text: str | None = column(
        "the statement, NULL where the reply holds none", holds="words of users"
    )
    kind: AttributeKind | None = column("what it is, NULL where the model does not say")
    turns: list[int] = column("turns that show it, by number from 1")
    confidence: float | None = column("0 to 1 as the model states it, NULL where it does not")
    attribute_id: Name | None = column("the attribute that it became a part of, NULL with a reason")
    reason: Name | None = column("why it is part of no attribute")


@table("memory/attributes.parquet", "user_id, place", part="memory")
class Attribute:
    """What is known of a user: near-equal statements as one."""

    attribute_id: Name = column("hash of the user and its oldest statement")
    user_id: Name = column("the user")
    place: int = column("order by the oldest evidence, from 0")
    text: str = column(
        "the statement with the highest confidence, the oldest of equals", holds="words of users"
    )
    kind: AttributeKind = column("what it is; `fact` where the model does not say")
    confidence: float | None = column("highest confidence of its statements")
    n_statements: int = column("statements that it stands for")
    stated_at: datetime | None = column("UTC time of the newest conversation that shows it")
    evidence: list[Evidence] = column("turns that show it", holds="words of users")


@table("memory/verifications.parquet", "user_id, attribute_id", part="memory")
class Verification:
    """What became of an attribute when it was verified (`memory.verify`)."""

    user_id: Name = column("the user")
    attribute_id: Name = column("the attribute")
    score: float | None = column("probability that raters accept it, learnt from other users")
    action: Literal["keep", "refine", "drop"] = column("what was done with it")
    new_attribute_id: Name | None = column("the attribute that takes its place")
    new_text: str | None = column("what the model stated in its place", holds="words of users")
    new_score: float | None = column("probability that raters accept that")
    reason: Name | None = column("why it is dropped, or kept without a score")


@table("memory/selected/{task}/{condition}.parquet", "user_id, item_id, place", part="memory")
class SelectedAttribute:
    """An attribute of a user beside a question: whether it matters there."""

    user_id: Name = column("the user")
    item_id: Name = column("the question")
    attribute_id: Name = column("the attribute")
    place: int = column("rank by the score, from 0")
    score: float | None = column("how much it matters, by `select.by`; NULL with a reason")
    is_selected: bool = column("whether it is put before the question")
    reason: Name | None = column("why there is no score")


@table("memory/texts/{task}/{condition}.parquet", "user_id, item_id NULLS FIRST", part="memory")
class MemoryText:
    """What a user's memory says before a question."""

    user_id: Name = column("the user, who is the puppet")
    item_id: Name | None = column("the question it is for, NULL where one serves all")
    text: str = column(
        "the rendered template, which the model reads; empty where nothing is known",
        holds="words of users",
    )
    attribute_ids: list[Name] = column("attributes in it")
    conversation_ids: list[Name] = column(
        "recent conversations quoted in it, and those that show it"
    )
    n_left_out: int = column(
        "attributes and recent conversations left out to keep within the budget"
    )


@table("metrics/memory_matches.parquet", "stage, measure", part="memory reference")
class MemoryMatch:
    """How much of what is true of users is known of them."""

    stage: MemoryStage = column("attributes as they were `read`, or after they are `verified`")
    measure: str = column("`precision`, `recall` or `f1`")
    estimate: float | None = column("its value, NULL with a reason")
    ci_low: float | None = column("lower end of the 95 % interval over users")
    ci_high: float | None = column("upper end of the 95 % interval over users")
    match_above: float = column("cosine from which an attribute and a reference say the same")
    n_users: int = column("remembered users of whom the reference knows something")
    n_attributes: int = column("attributes of these users")
    n_references: int = column("references of these users")
    n_matches: int = column("pairs that say the same, each attribute and reference in one at most")
    reason: str | None = column("why there is no estimate, or no interval")
