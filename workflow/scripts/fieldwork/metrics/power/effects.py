"""What `snakemake power` supposes: an effect, and the answers among which a study has to see it.

An effect is what the study would measure over all users: a share under the condition, a share of the
variance, a difference of means. Where few users carry it, they differ from the others by so much more.
"""

from typing import NamedTuple

from fieldwork.records.power import PowerMeasure


class ShareChange(NamedTuple):
    """One answer's share under the baseline and under the condition, in one prompt of a task."""

    baseline: float
    condition: float

    @property
    def label(self) -> str:
        """The effect as the tables name it."""
        return f"{self.baseline:.12g} -> {self.condition:.12g}"


class UserShare(NamedTuple):
    """The share of variance that comes from who asks, over the prompts of a task."""

    share_who: float

    @property
    def label(self) -> str:
        """The effect as the tables name it."""
        return f"{self.share_who:.12g}"


class EntropyRise(NamedTuple):
    """How many bits more varied lists are than the baseline's, mean over the prompts of a task."""

    bits: float

    @property
    def label(self) -> str:
        """The effect as the tables name it."""
        return f"{self.bits:.12g}"


class ScoreDifference(NamedTuple):
    """A difference of mean scores; standard deviations over users and over reruns."""

    difference: float
    sd_users: float
    sd_reruns: float

    @property
    def label(self) -> str:
        """The effect as the tables name it."""
        return f"{self.difference:.12g}"


class ValueDifference(NamedTuple):
    """A difference of means of points or numbers, in standard deviations of one answer to a question.

    Attributes:
        n_together: scales whose mean is tested as one; 1 for a single question.
    """

    difference: float
    n_together: int = 1

    @property
    def label(self) -> str:
        """The effect as the tables name it."""
        return f"{self.difference:.12g}{TOGETHER if self.n_together > 1 else ''}"


Effect = ShareChange | UserShare | EntropyRise | ScoreDifference | ValueDifference

TOGETHER = " together"
"""Ends the name of an effect in the mean of several scales."""


class LetterSource(NamedTuple):
    """Letters: an answer is one of two."""

    answer_share: float

    @property
    def label(self) -> str:
        """The source as the tables name it."""
        return "one answer of two"


class ListSource(NamedTuple):
    """Lists that name `n_named` of `n_options` options, whose weights are 1 / rank ** exponent."""

    n_named: int
    n_options: int
    exponent: float

    @property
    def label(self) -> str:
        """The source as the tables name it."""
        return f"lists of {self.n_named} of {self.n_options} options"


class ValueSource(NamedTuple):
    """Points of a scale, or numbers where `n_points` is 0."""

    n_points: int

    @property
    def label(self) -> str:
        """The source as the tables name it."""
        return f"one of {self.n_points} points" if self.n_points else "a number"


AnswerSource = LetterSource | ListSource
"""Of answers that are options."""


class Scenario(NamedTuple):
    """One effect, and the test that is to see it, in one kind of task.

    Attributes:
        n_items: prompts of the task that the test is about.
        n_settled: prompts that everybody answers alike; the effect is in the others.
        odd_users: share of users who carry the effect.
        replicates: answers of each user to each prompt.
        likeness: correlation of a user's answers to two prompts, which only matters where a test takes
            several prompts of a user together.
    """

    measure: PowerMeasure
    effect: Effect
    source: AnswerSource | ValueSource
    n_items: int = 1
    n_settled: int = 0
    odd_users: float = 1.0
    replicates: int = 1
    likeness: float = 0.0

    @property
    def n_open(self) -> int:
        """Prompts whose answers differ."""
        return self.n_items - self.n_settled

    @property
    def source_label(self) -> str:
        """What the simulated answers are."""
        match self.effect:
            case ScoreDifference():
                return "scores"
            case ValueDifference(_, n) if n > 1:
                return f"the mean of {n} scales"
        return self.source.label

    @property
    def supposed_likeness(self) -> float | None:
        """The likeness; None where the test has one prompt, or whole scores."""
        match self.effect:
            case UserShare() | EntropyRise():
                return self.likeness
            case ValueDifference(_, n) if n > 1:
                return self.likeness
        return None

    @property
    def seed_names(self) -> tuple[str, ...]:
        """What the scenario's random numbers depend on."""
        return (type(self.effect).__name__, *map(repr, self))

    def impossible(self) -> str | None:
        """Why no source has this effect; lists say it when they are drawn."""
        share = self.odd_users
        match self.effect, self.source:
            case ShareChange(baseline, condition), _:
                other_share = (1 - share) * baseline
                if not other_share - 1e-9 <= condition <= other_share + share + 1e-9:
                    change = f"from {baseline:g} to {condition:g}"
                    return f"{share:.3g} of the users cannot move a share {change}"
            case UserShare(share_who), LetterSource() if share_who > share + 1e-9:
                return (
                    f"{share:.3g} of the users cannot bring {share_who:g} of the variance where others "
                    "answer alike"
                )
        return None
