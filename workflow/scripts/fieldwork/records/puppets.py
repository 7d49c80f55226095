"""Rows of the tables that simulated users are made from: conversations, profiles, contexts."""

from datetime import datetime

from fieldwork.records.columns import Name, column, row, table


@row
class Message:
    """One chat message."""

    role: Name = column("`system`, `user` or `assistant`")
    content: str = column("the text, unchanged")


@table("corpus/{corpus}/conversations.parquet")
class Conversation:
    """A conversation that passed the filters."""

    conversation_id: Name = column(
        "pseudonym, unique in the corpus; stable when other rows are added"
    )
    user_id: Name = column("pseudonym that groups the conversations of one user")
    started_at: datetime | None = column("UTC time of the conversation, NULL where unknown")
    language: Name | None = column("language as the corpus labels it")
    model: Name | None = column("model that answered, NULL where the corpus has none")
    n_user_turns: int = column("messages with role `user`")
    n_tokens: int = column("estimated tokens of all messages (docs/models.md)")
    messages: list[Message] = column("the conversation in order", holds="words of users")


@table("corpus/{corpus}/funnel.csv")
class FunnelStep:
    """What one filter let through."""

    step: int = column("order of the filter, from 0 (rows read)")
    filter: Name = column("name of the setting")
    setting: Name = column("its value")
    rows_in: int = column("conversations before the filter")
    rows_out: int = column("conversations after the filter")
    users_out: int = column("distinct users after the filter")


@table("embeddings/{corpus}/texts/{shard}.parquet")
class ConversationText:
    """The text of a conversation that is embedded."""

    conversation_id: Name = column("the conversation")
    text: str = column("the text, by the setting `embedding.text`", holds="words of users")


@table("embeddings/{corpus}/shards/{shard}.parquet")
class ConversationVector:
    """The embedding of a conversation."""

    conversation_id: Name = column("the conversation")
    text_sha256: Name = column("hash of the text that was embedded")
    vector: bytes = column("unit vector, little-endian float32: `numpy.frombuffer(vector, '<f4')`")


@table("encoder.csv")
class EncoderChoice:
    """The precision that texts are encoded in, where the study leaves it to the processor."""

    encoder: Name = column("the setting `embedding.model`")
    precision: Name = column("`fp32` or `bf16`: what `embedding.precision: auto` is in this study")
    processor: Name = column("the processor or GPU that it was measured on")
    reason: Name = column("why this precision was taken")


@table("personas/profiles.parquet", "puppet_id")
class Profile:
    """A profile puppet."""

    puppet_id: Name = column("`profile-000000` and on")
    persona: str = column("persona description", holds="words of users")
    sentences: list[str] = column(
        "profile sentences, none twice within a profile", holds="words of users"
    )
    text: str = column("the rendered template, which the model reads", holds="words of users")


@table("puppets.csv")
class PuppetCount:
    """How many puppets a source gives."""

    source: Name = column("the corpus or persona source")
    filters: Name = column("the filters of the corpus that are on")
    unit: Name = column("what is counted: `users` or `personas`")
    at_least: int = column("conversations that a user must have to count, else 1")
    available: int = column("how many there are, after the filters")


@table("contexts/{task}/{condition}.parquet", "puppet_id, item_id NULLS FIRST")
class Context:
    """The messages that a puppet puts before a question."""

    context_id: Name = column("sha256 of the messages: equal contexts have equal ids")
    puppet_id: Name = column("the puppet")
    item_id: Name | None = column("the item it was made for, NULL where one serves all items")
    conversation_ids: list[Name] = column("conversations used, in the order of the messages")
    messages: list[Message] = column("what is prepended to the question", holds="words of users")
    n_tokens: int = column("estimated tokens of the messages")
    n_dropped: int = column(
        "whole conversations, or parts of a memory, left out to keep within the token budget"
    )
