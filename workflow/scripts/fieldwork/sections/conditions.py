"""Entries of `conditions`, a class for each kind of context."""

from typing import Annotated, Literal

from pydantic import Field

from fieldwork.sections.base import ConfigSection, Line, Text


class _ConditionEntry(ConfigSection):
    """What every entry of conditions says."""

    label: Line = Field(examples=["With a history"], description="Name in figures, in one line.")
    wave: str | None = Field(
        None,
        description=(
            "Week (2026-W47), month (2026-11) or day (2026-11-23), in UTC, in which the condition is "
            "asked. After it no question is asked, as the model may have changed. Null asks at any "
            "time."
        ),
    )


class _CalledCondition(_ConditionEntry):
    """A condition under which models are asked."""

    temperature: float = Field(1, ge=0, le=2, description="Sampling temperature.")


class _PuppetCondition(_CalledCondition):
    """A condition that brings a simulated user."""

    replicates: int = Field(
        2,
        ge=1,
        le=10_000,
        description=(
            "How often each puppet is asked each item. With 1, contexts cannot be separated from asking "
            "again, and their share is empty. Each further one costs as many calls again."
        ),
    )


class _BlankCondition(_CalledCondition):
    """Nothing stands before the question."""

    context: Literal["none"] = Field(description="What the model sees of a user.")
    after: str | None = Field(
        None,
        description=(
            "Condition without a user that this one repeats: the study's negative control. Its reruns "
            "are numbered after those."
        ),
    )


class HistoryCondition(_PuppetCondition):
    """Conversations stand before the question: drawn, or retrieved for it."""

    context: Literal["history", "rag"] = Field(description="What the model sees of a user.")
    corpus: str | None = Field(
        None,
        description="Entry of `corpora` that the conversations come from; null takes study.corpus.",
    )
    pool: Literal["user", "corpus"] = Field(
        "user", description="Whose conversations a puppet brings, one user's or anyone's."
    )
    conversations: int = Field(1, ge=1, le=100_000, description="Conversations a puppet brings.")
    out_of: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description=(
            "Conversations drawn for a puppet, of which it brings those drawn last. Conditions with the "
            "same number have the same puppets, and shorter histories are part of longer ones. Null "
            "draws as many as it brings."
        ),
    )
    token_budget: int = Field(
        100_000,
        ge=1,
        le=10_000_000,
        description=(
            "Estimated tokens that a context may hold. Conversations that do not fit are left out "
            "whole."
        ),
    )
    same_users_as: str | None = Field(
        None,
        description=(
            "Condition with context history whose users this one brings again, each with other "
            "conversations. So the share between users can be told from that between contexts of one "
            "user (docs/own_data.md). Null for users of its own."
        ),
    )
    order: Literal["drawn", "chronological", "reversed"] = Field(
        "drawn",
        description=(
            "Order of the conversations; the last one stands next to the question. drawn ends with the "
            "one drawn last, or the most relevant. reversed brings the same ones in reverse order."
        ),
    )
    profile: Literal["system", "user"] | None = Field(
        None,
        description=(
            "Role of a message with a profile, before the conversations; null for no profile."
        ),
    )

    @property
    def n_drawn(self) -> int:
        """Conversations that are drawn for a puppet."""
        return self.out_of or self.conversations


class _ProfileCondition(_PuppetCondition):
    """A profile stands before the question."""

    context: Literal["profile"] = Field(description="What the model sees of a user.")
    role: Literal["system", "user"] = Field(
        "system", description="Role of the message that holds the profile."
    )


class MemoryLimits(ConfigSection):
    """What a text of memory may hold."""

    recent: int = Field(
        0,
        ge=0,
        le=100_000,
        description="Newest conversations that the memory quotes, if its template does.",
    )
    token_budget: int = Field(
        8000,
        ge=1,
        le=10_000_000,
        description=(
            "Estimated tokens that a memory may have. Conversations, and then attributes, that do not "
            "fit are left out, the oldest first."
        ),
    )


class _RemembranceCondition(MemoryLimits, _PuppetCondition):
    """A condition whose user is a memory."""

    role: Literal["system", "user"] = Field(
        "system", description="Role of the message that holds the memory."
    )
    template: Text = Field(
        "resources/memory/chatgpt_2026.txt",
        description="File with the form of the memory, in the language of Jinja (docs/memory.md).",
    )


class _MemoryCondition(_RemembranceCondition):
    """What was read off a user's conversations stands before the question."""

    context: Literal["memory"] = Field(description="What the model sees of a user.")


class SelectionRules(ConfigSection):
    """Which attributes are selected by their scores."""

    by: Literal["all", "bm25", "encoder", "model", "people", "learnt"] = Field(
        description=(
            "What says how much an attribute matters for a question. all takes every one; bm25 counts "
            "shared words, encoder compares vectors; model asks a model, people takes judgements of "
            "people, learnt what is learnt from judgements on other users."
        )
    )
    n: int | None = Field(
        None, ge=1, le=100_000, description="Most attributes that are selected; null for no limit."
    )
    at_least: float | None = Field(
        None,
        ge=-1000,
        le=1000,
        description=(
            "Least score of a selected attribute: BM25's, a cosine, or the share that says yes. Null "
            "for none, but half of the judgements of a model or of people must say yes."
        ),
    )


class _AttributeSelection(SelectionRules):
    """Which attributes are put before a question."""

    model: str | None = Field(
        None, description="Model that is asked; null takes the one that reads conversations."
    )
    scale: str | None = Field(
        None,
        description=(
            "Scale of judging.scales on which it was judged whether an attribute matters; for people "
            "and learnt."
        ),
    )


class _RelevantMemoryCondition(_RemembranceCondition):
    """The part of a memory that matters for a question stands before it."""

    context: Literal["memory_relevant"] = Field(description="What the model sees of a user.")
    select: _AttributeSelection


class _RecordedCondition(_ConditionEntry):
    """Somebody recorded what stood before the question."""

    context: Literal["recorded"] = Field(description="What the model sees of a user.")


AnyCondition = Annotated[
    _BlankCondition
    | HistoryCondition
    | _ProfileCondition
    | _MemoryCondition
    | _RelevantMemoryCondition
    | _RecordedCondition,
    Field(discriminator="context"),
]
