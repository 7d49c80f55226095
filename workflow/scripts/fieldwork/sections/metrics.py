"""How answers are measured and weighed."""

from typing import Literal

from pydantic import Field

from fieldwork.sections.base import ConfigSection, Distinct, Selection


class MarginsSection(ConfigSection):
    """Differences that count as none.

    A difference whose 95 % interval lies within its margin is called equivalent.
    """

    share_who: float = Field(
        0.05,
        gt=0,
        description=(
            "Share of the variance of answers that lies between contexts, or real users, 0 to 1."
        ),
    )
    entropy_bits: float = Field(0.25, gt=0, description="Mean entropy over prompts, in bits.")
    score: float = Field(0.02, gt=0, description="Mean score, 0 to 1.")
    share: float = Field(
        0.1,
        gt=0,
        description=(
            "Share of answers that name an option, or of questions with a new answer, 0 to 1."
        ),
    )


class MetricsSection(ConfigSection):
    """How answers are measured."""

    baseline: str = Field("offline", description="The condition that the others are compared with.")
    permutations: int = Field(
        1999,
        ge=99,
        le=1_000_000,
        description=(
            "Random permutations of a test that has too many to list them all. A million resolve "
            "p-values to a millionth, and take hours."
        ),
    )
    one_job: bool = Field(
        True,
        description=(
            "Whether one job makes all tables of metrics that are made of answers alone, which saves "
            "the start of a process for each. With false each has its own job: they run beside one "
            "another, and a change of one leaves the others as they are. Worth it from some hundred "
            "thousand answers."
        ),
    )
    looks: int = Field(
        52,
        ge=1,
        le=10_000,
        description=(
            "Waves after the first over which tests of drift keep their level; a year has 52 weeks. "
            "Further waves are not tested, so begin a new study then."
        ),
    )
    rarest_users: float = Field(
        0.125,
        le=0.125,
        gt=0,
        description=(
            "Share of users of the rarest kind that intervals over users must cover. No sample shows "
            "users that it lacks: 0.05 needs 100 users, 0.125 needs 39. With fewer users there is no "
            "interval."
        ),
    )
    smallest_cell: int = Field(
        5,
        ge=1,
        le=1000,
        description=(
            "People from whom an option of a list is shown by its words, and by group (docs/field.md). "
            "What fewer wrote has a number in its place; what fewer of a group named is `others`. 1 "
            "shows everything."
        ),
    )
    rarest_prompts: float = Field(
        0.45,
        le=0.5,
        gt=0,
        description=(
            "Share of prompts of the rarest kind that intervals for prompts like these must cover: 0.45 "
            "needs 9 prompts, 0.2 needs 23. With fewer prompts there is no such interval, and no "
            "calibration."
        ),
    )
    margins: MarginsSection = Field(default_factory=MarginsSection)
    categories: str = Field(
        "resources/categories.csv",
        description=(
            "CSV of subject and category, to test whether contexts matter more for some subjects."
        ),
    )


class CalibrationSection(ConfigSection):
    """Weights that bring the simulated answers closest to the field's, judged on prompts that they
    were not fitted on (docs/methods.md). Needs a field, or the weights of another study.
    """

    tasks: Selection | None = Field(
        None,
        description=(
            "Tasks whose prompts are used, if the field answered them. Null for all tasks of the study."
        ),
    )
    over: Distinct[Literal["conditions", "puppets"]] = Field(
        ["conditions", "puppets"],
        min_length=1,
        description=(
            "What gets weights, the conditions of the study, or the puppets of each of them."
        ),
    )
    conditions: Selection | None = Field(
        None,
        description=(
            "Conditions that get weights. Null for all of the study except those that ask the baseline "
            "again."
        ),
    )
    folds: int = Field(
        5,
        ge=2,
        le=100,
        description=(
            "Folds of prompts in the cross-validation. Each fold is judged by weights fitted on the "
            "others."
        ),
    )
    repeats: int = Field(
        3,
        ge=1,
        le=100,
        description=(
            "Repeats of the cross-validation with new folds. Weights of puppets use the first one only."
        ),
    )
    weights: str | None = Field(
        None,
        description=(
            "Weights that another study fitted (its "
            "results/{study}/metrics/calibration_weights.parquet), or null. With them nothing is "
            "fitted: they are applied and, if there is a field, judged."
        ),
    )
