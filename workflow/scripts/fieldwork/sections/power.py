"""What is assumed to say how large a study must be."""

from typing import Annotated

from pydantic import Field

from fieldwork.sections.base import ConfigSection, Distinct


class RaterAssumptions(ConfigSection):
    """What is assumed of raters, to say how precise their judgements will be."""

    users: Distinct[Annotated[int, Field(ge=2, le=100_000)]] = Field(
        [20, 50, 100, 200],
        min_length=1,
        max_length=50,
        description="Numbers of users whose units are judged.",
    )
    per_user: Distinct[Annotated[int, Field(ge=1, le=10_000)]] = Field(
        [2, 5, 10], min_length=1, max_length=50, description="Numbers of units of each user."
    )
    shares: Distinct[Annotated[float, Field(gt=0, lt=1)]] = Field(
        [0.2, 0.5],
        min_length=1,
        max_length=50,
        description="Shares of judgements that say yes, between 0 and 1.",
    )
    kappa: float = Field(0.4, ge=0, lt=1, description="Agreement of raters beyond chance.")
    likeness: float = Field(
        0.1,
        ge=0,
        le=1,
        description="How alike the units of a user are, as an intraclass correlation.",
    )
    per_rater: int = Field(100, ge=1, le=100_000, description="Units that one rater judges in all.")


class _SharePair(ConfigSection):
    """Shares of one answer under two conditions."""

    baseline: float = Field(examples=[0.5], ge=0, le=1, description="Its share in the baseline.")
    condition: float = Field(
        examples=[0.4], ge=0, le=1, description="Its share under the condition."
    )


def _reported_shares() -> list[_SharePair]:
    pairs = ((0.93, 0.35), (0.91, 0.37), (0.93, 0.80), (0.50, 0.40), (0.10, 0.05))
    return [_SharePair(baseline=baseline, condition=condition) for baseline, condition in pairs]


class _EffectSizes(ConfigSection):
    """Effects to detect; each has a curve of its own."""

    shares: Distinct[_SharePair] = Field(
        default_factory=_reported_shares,
        min_length=1,
        max_length=50,
        description=(
            "Shares of one answer under the baseline and under the condition, from 0 to 1, in one "
            "prompt."
        ),
    )
    who: Distinct[Annotated[float, Field(ge=0, le=1)]] = Field(
        [0.05, 0.1, 0.2, 0.4],
        min_length=1,
        max_length=50,
        description=(
            "Shares of the variance of answers that lie between contexts (share_who), from 0 to 1."
        ),
    )
    entropy: Distinct[Annotated[float, Field(ge=0, le=10)]] = Field(
        [0.1, 0.25, 0.5],
        min_length=1,
        max_length=50,
        description=(
            "Bits by which the mean entropy of lists rises above the baseline's: what every declared "
            "measure of options is to see."
        ),
    )
    scores: Distinct[Annotated[float, Field(ge=0, le=1)]] = Field(
        [0.006, 0.037],
        min_length=1,
        max_length=50,
        description="Differences of the mean score from the baseline's, from 0 to 1.",
    )
    values: Distinct[Annotated[float, Field(ge=0, le=10)]] = Field(
        [0.2, 0.5, 0.8],
        min_length=1,
        max_length=50,
        description=(
            "Differences of the mean of points or numbers from the baseline's, in standard deviations "
            "of one answer."
        ),
    )


class _ListAssumptions(ConfigSection):
    """Simulated lists, in tasks of list items."""

    named: int = Field(5, ge=1, le=50, description="Options in a list.")
    options: int = Field(60, ge=2, le=1000, description="Options there are")
    exponent: float = Field(
        1.5,
        ge=0,
        le=5,
        description=(
            "How unequal options are: their weights are 1 / rank to this power. 0 makes them equal."
        ),
    )


class PowerSection(ConfigSection):
    """What `snakemake power` simulates to say how large a study must be (docs/methods.md)."""

    target: float = Field(
        0.8,
        gt=0,
        lt=1,
        description="Target power: the share of studies that claim the effect; less than 1.",
    )
    simulations: int = Field(
        400,
        ge=20,
        le=100_000,
        description=(
            "Simulated studies for each effect and size. 400 are exact to 5 points or better."
        ),
    )
    sizes: Distinct[Annotated[int, Field(ge=2, le=2000)]] = Field(
        [5, 10, 20, 40, 60, 100, 200, 400, 800],
        min_length=1,
        max_length=50,
        description=(
            "Numbers of users or puppets to try, 2 or more. The baseline is asked as often."
        ),
    )
    replicates: Distinct[Annotated[int, Field(ge=2, le=10)]] = Field(
        [2, 3, 5],
        min_length=1,
        description=(
            "Numbers of answers a user gives to each prompt, for the share between contexts."
        ),
    )
    raters: RaterAssumptions = Field(default_factory=RaterAssumptions)
    prompts: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description=(
            "Prompts of each task whose shares are tested together; null for all of the task."
        ),
    )
    effects: _EffectSizes = Field(default_factory=_EffectSizes)
    lists: _ListAssumptions = Field(default_factory=_ListAssumptions)
    answer_share: float = Field(
        0.5, gt=0, lt=1, description="Share of one of two answers, in tasks of other kinds."
    )
    settled_items: float = Field(
        0.0,
        ge=0,
        le=1,
        description=(
            "Share of each task's prompts that everybody answers alike, from 0 to 1. The effect is in "
            "the others, of which there is one at least."
        ),
    )
    scale_points: int = Field(5, ge=2, le=101, description="Points of a scale, in tasks of scales.")
    likeness: float | None = Field(
        None,
        ge=0,
        le=1,
        description=(
            "How alike a user's answers to different prompts are: the correlation, over the prompts of "
            "a task, of what sets users apart. 0 for none, 1 for the same in all prompts. Null for what "
            "this study's stored answers show, a pilot's, or a cautious 0.3 without any."
        ),
    )
    share_who: float | None = Field(
        None,
        ge=0,
        le=1,
        description=(
            "Where study.probabilities is instead: share of the variance of letters between contexts. 0: "
            "all state the same probabilities; 1: each is sure of a letter. Null for what this study's "
            "stored answers show, or a cautious 0.5 without any."
        ),
    )
    odd_users: float = Field(
        1.0,
        le=1,
        gt=0,
        description=(
            "Share of users who carry the effect, from 0 to 1. It is as large over all users as "
            "`effects` says, so that these few differ from the others by more."
        ),
    )
    sd_users: float = Field(
        0.01,
        ge=0,
        le=0.5,
        description="Standard deviation over users of the score that each would get on average.",
    )
    sd_reruns: float = Field(
        0.01,
        le=0.5,
        gt=0,
        description="Standard deviation over reruns of one user's score, or of the baseline's.",
    )
    field_cost_usd: float | None = Field(
        None,
        ge=0,
        description="US dollars that a participant of a field study costs. Null if unknown.",
    )
