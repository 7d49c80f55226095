"""How attributes are read off conversations."""

from typing import Literal

from pydantic import Field

from fieldwork.sections.base import ConfigSection, Text


class _MemoryVerification(ConfigSection):
    """Attributes that raters would reject are left out, by a model that learns from judgements of
    other users' attributes (docs/personalisation.md). Null leaves all in.
    """

    units: str = Field(
        description="Entry of judging.units, of attributes, whose judgements are learnt from."
    )
    keep_above: float = Field(
        0.5, ge=0, le=1, description="Probability of acceptance from which an attribute is kept."
    )
    refine: bool = Field(
        True,
        description=(
            "Whether the reading model states once more what is rejected, and the new statement is "
            "verified in turn."
        ),
    )
    prompt: Text = Field(
        "resources/memory/refine.txt",
        description=(
            "File with the question for another statement, which may use conversation, attribute and "
            "is_quoted."
        ),
    )


class ReadingRules(ConfigSection):
    """How conversations are read."""

    conversations: int = Field(
        10, ge=1, le=100_000, description="Most conversations that are read of a user, the newest."
    )
    longest: int = Field(
        6000,
        ge=1,
        le=10_000_000,
        description=(
            "Estimated tokens of the longest conversation that is read. Longer ones are left out, and "
            "counted."
        ),
    )
    form: Literal["auto", "statements", "sentences"] = Field(
        "auto",
        description=(
            "What the model writes. statements are free, with the turns that show them; sentences are "
            "chosen among the user's own. auto takes sentences for a model whose lists are held to "
            "candidates."
        ),
    )
    per_conversation: int = Field(
        5, ge=1, le=100, description="Most attributes that are stated of a conversation."
    )


class MergeRules(ConfigSection):
    """Which statements become attributes."""

    merge_above: float = Field(
        0.85,
        ge=0,
        le=2,
        description=(
            "Cosine from which two statements about a user become one attribute. Above 1 only equal "
            "texts do."
        ),
    )
    least_confidence: float = Field(
        0,
        ge=0,
        le=1,
        description="Least confidence of a statement that counts, where the model states one.",
    )
    needs_evidence: bool = Field(
        True, description="Whether statements are left out that no turn of the user shows."
    )


class MemorySection(MergeRules, ReadingRules):
    """How attributes of users are read off their conversations, for conditions of context memory
    and memory_relevant (docs/memory.md).
    """

    model: str | None = Field(
        None,
        description=(
            "Model that reads conversations; null takes the first of study.models that is asked."
        ),
    )
    corpus: str | None = Field(
        None, description="Entry of `corpora` whose users are remembered; null takes study.corpus."
    )
    at_least: int = Field(
        1, ge=1, le=100_000, description="Conversations that a user must have to become a puppet."
    )
    prompt: Text | None = Field(
        None,
        description=(
            "File with the question to the model, which may use conversation and n; null takes the one "
            "of the form that comes with the project."
        ),
    )
    select_prompt: Text = Field(
        "resources/memory/matters.txt",
        description=(
            "File with the question to a model that selects attributes, which may use attribute and "
            "question."
        ),
    )
    max_tokens: int = Field(800, ge=1, le=1_000_000, description="Longest reply, in tokens.")
    temperature: float = Field(0, ge=0, le=2, description="Sampling temperature of the replies.")
    verify: _MemoryVerification | None = None
    reference: Text | None = Field(
        None,
        description=(
            "CSV of user_id and attribute: what is true of the corpus's users, which attributes are "
            "held against. Null for none."
        ),
    )
    match_above: float = Field(
        0.7, ge=0, le=1, description="Cosine from which an attribute and a reference say the same."
    )
