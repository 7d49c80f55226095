"""What `snakemake power` supposes: an effect, and the answers among which a study has to see it.

An effect is what the study would measure over all users: a share under the condition, a share of the
variance, a difference of means. Where few users carry it, they differ from the others by so much more.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

EffectKind = Literal["shares", "who", "entropy", "scores", "values"]
"""Names in `power.effects`."""

_LABELS: Mapping[EffectKind, str] = {"shares": "{0.baseline:.12g} -> {0.size:.12g}"}

# random numbers hang on these words: others would change every number that was printed
_SEED_WORDS: Mapping[EffectKind, str] = {
    "shares": "ShareChange(baseline={0.baseline!r}, condition={0.size!r})",
    "who": "UserShare(share_who={0.size!r})",
    "entropy": "EntropyRise(bits={0.size!r})",
    "scores": (
        "ScoreDifference(difference={0.size!r}, sd_users={0.sd_users!r}, sd_reruns={0.sd_reruns!r})"
    ),
    "values": "ValueDifference(difference={0.size!r}, n_together={0.n_together!r})",
}

TOGETHER = " together"
"""Ends the name of an effect in the mean of several scales."""


class Effect(NamedTuple):
    """A supposed effect.

    Attributes:
        size: an answer's share under the condition in one prompt (`shares`); the share of variance that
            comes from who asks (`who`); bits that lists are more varied than the baseline's (`entropy`);
            a difference of mean scores (`scores`), or of means of points or numbers in standard
            deviations of one answer (`values`).
        baseline: the answer's share under the baseline.
        sd_users, sd_reruns: standard deviations of scores over users and over reruns.
        n_together: scales whose mean is tested as one; 1 for a single question.
    """

    kind: EffectKind
    size: float
    baseline: float = 0.0
    sd_users: float = 0.0
    sd_reruns: float = 0.0
    n_together: int = 1

    @property
    def label(self) -> str:
        """The effect as the tables name it."""
        label = _LABELS.get(self.kind, "{0.size:.12g}").format(self)
        return label + TOGETHER if self.n_together > 1 else label

    @property
    def seed_names(self) -> tuple[str, str]:
        """What random numbers depend on."""
        words = _SEED_WORDS[self.kind].format(self)
        return words.partition("(")[0], words


class LetterSource(NamedTuple):
    """Letters: an answer is one of two."""

    answer_share: float

    @property
    def label(self) -> str:
        """The source as the tables name it."""
        return "one answer of two"


class ProbabilitySource(NamedTuple):
    """Letters whose probabilities are stated: an answer is one of two.

    Attributes:
        share_who: of the variance of letters, what lies between users.
    """

    share_who: float

    @property
    def label(self) -> str:
        """The source as the tables name it."""
        return "probabilities of one answer of two"


class ListSource(NamedTuple):
    """Lists that name `n_named` of `n_options` options, whose weights are 1 / rank ** exponent."""

    n_named: int
    n_options: int
    exponent: float

    @property
    def label(self) -> str:
        """The source as the tables name it."""
        return f"lists of {self.n_named} of {self.n_options} options"


class LetterProbabilities(NamedTuple):
    """Letters whose probabilities are stated, and on average weigh 1 / rank ** exponent.

    Attributes:
        share_who: of the variance of letters, what lies between users.
    """

    share_who: float
    n_options: int
    exponent: float

    @property
    def label(self) -> str:
        """The source as the tables name it."""
        return f"probabilities of {self.n_options} letters"

    @property
    def letters(self) -> ListSource:
        """The letters that would be drawn, as lists of one option."""
        return ListSource(1, self.n_options, self.exponent)


class ValueSource(NamedTuple):
    """Points of a scale, or numbers where `n_points` is 0."""

    n_points: int

    @property
    def label(self) -> str:
        """The source as the tables name it."""
        return f"one of {self.n_points} points" if self.n_points else "a number"


AnswerSource = LetterSource | ProbabilitySource | ListSource | LetterProbabilities
"""Of answers that are options."""


class Scenario(NamedTuple):
    """One effect, and the test that is to see it, in one kind of task.

    Attributes:
        measure: a name of `study.primary`.
        n_items: prompts of the task that the test is about.
        n_settled: prompts that everybody answers alike; the effect is in the others.
        odd_users: share of users who carry the effect.
        replicates: answers of each user to each prompt.
        likeness: correlation of a user's answers to two prompts, which only matters where a test takes
            several prompts of a user together.
        basis: where the likeness is from; empty where there is none.
    """

    measure: str
    effect: Effect
    source: AnswerSource | ValueSource
    n_items: int = 1
    n_settled: int = 0
    odd_users: float = 1.0
    replicates: int = 1
    likeness: float = 0.0
    task: str = ""
    basis: str = ""

    @property
    def n_open(self) -> int:
        """Prompts whose answers differ."""
        return self.n_items - self.n_settled

    @property
    def source_label(self) -> str:
        """What the simulated answers are."""
        if self.effect.kind == "scores":
            return "scores"
        n = self.effect.n_together
        return f"the mean of {n} scales" if n > 1 else self.source.label

    @property
    def supposed_likeness(self) -> float | None:
        """The likeness; None where the test has one prompt, whole scores or probabilities."""
        is_of_prompt = self.measure == "value" and self.effect.n_together == 1
        is_stated = isinstance(self.source, ProbabilitySource)
        has_none = self.effect.kind in ("shares", "scores") or is_of_prompt or is_stated
        return None if has_none else self.likeness

    @property
    def seed_names(self) -> tuple[str, ...]:
        """What the scenario's random numbers depend on."""
        kind, effect = self.effect.seed_names
        numbers = (self.n_items, self.n_settled, self.odd_users, self.replicates, self.likeness)
        return (kind, repr(self.measure), effect, repr(self.source), *map(repr, numbers))

    def impossible(self) -> str | None:
        """Why no source has this effect; lists say it when they are drawn."""
        share, size, baseline = self.odd_users, self.effect.size, self.effect.baseline
        if self.effect.kind == "shares":
            other_share = (1 - share) * baseline
            if not other_share - 1e-9 <= size <= other_share + share + 1e-9:
                change = f"from {baseline:g} to {size:g}"
                return f"{share:.3g} of the users cannot move a share {change}"
        is_of_letters = self.effect.kind == "who" and isinstance(self.source, LetterSource)
        if is_of_letters and size > share + 1e-9:
            return (
                f"{share:.3g} of the users cannot bring {size:g} of the variance where others "
                "answer alike"
            )
        return None
