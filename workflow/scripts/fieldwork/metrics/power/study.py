"""The study that `snakemake power` plans: what it asks and tests, and the effects supposed in it.

Owns which effect is simulated for which task, and by which of the study's tests it is to be seen. A
measure that `fieldwork/measures` declares and the page may claim is there by itself.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from fieldwork import measures
from fieldwork.estimates.declaration import ReaderQuestion
from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.power.effects import (
    AnswerSource,
    Effect,
    LetterProbabilities,
    LetterSource,
    ListSource,
    ProbabilitySource,
    Scenario,
    ValueSource,
)
from fieldwork.metrics.power.likeness import NO_PILOT, Likeness, TaskLikeness, supposed_likeness
from fieldwork.metrics.power.outcomes import SimulatedStudies
from fieldwork.records.tasks import OPTION_KINDS, VALUE_KINDS, ItemKind
from fieldwork.sections.power import PowerSection
from fieldwork.statistics.families import LEVEL
from fieldwork.statistics.permutation import permutations_to_resolve
from fieldwork.statistics.seeds import generator

CAUTIOUS_SHARE = 0.5
"""Of the variance of stated letters between users, where neither a pilot nor the config says it."""

N_LETTERS = 4
"""Options of a choice, where a declared measure takes letters."""


def declared_questions() -> Mapping[str, ReaderQuestion]:
    """The question of each declared measure that the page may claim, by the measure's name."""
    return {
        measure.name: question
        for question in measures.questions().values()
        for measure in question.measures
        if measure.is_claimed
    }


class SupposedShare(NamedTuple):
    """A supposed share of the variance of letters, and where it is from, as the page says it."""

    value: float
    basis: str


class PlannedTask(NamedTuple):
    """A task of the study.

    Attributes:
        prompts: how many it has of each kind. Texts have no test of their options or values.
        n_graded: choices that have a right answer.
    """

    prompts: Mapping[ItemKind, int]
    n_graded: int = 0

    @property
    def by_kind(self) -> dict[ItemKind, int]:
        """The kinds that have a test of who asks, the commonest first."""
        kinds = sorted(self.prompts, key=lambda kind: -self.prompts[kind])
        return {k: self.prompts[k] for k in kinds if k != "text" and self.prompts[k]}

    def count(self, kinds: Collection[str] | None = None) -> int:
        """Prompts of some kinds, or of all."""
        return sum(n for kind, n in self.prompts.items() if kinds is None or kind in kinds)


class PlannedStudy(NamedTuple):
    """What the study would ask, and what its tests must reach.

    Attributes:
        models: printed names by name.
        conditions: printed names by name of those with users. Real users (`field`) are added to them.
        n_comparisons: conditions that are compared with the baseline, with users or without.
        runs: users or reruns of each task.
        score_task: task whose scores are compared, None where the study has none.
        asked_again: conditions in which a user answers a prompt more than once, real users too.
        nests: conditions with the same users, by the one whose users they are.
        settings: section `power` of the config.
        rules: what the study says of its claims.
        rarest_users: share of users of the rarest kind that intervals cover.
        pilot: how alike a user's answers to two prompts are, where that was measured.
        is_by_probabilities: whether probabilities of letters stand in the place of asking again.
        share_who: of the variance of letters between users, by task, where a pilot shows it.
    """

    name: str
    models: Mapping[str, str]
    conditions: Mapping[str, str]
    baseline: str
    n_comparisons: int
    runs: Mapping[str, int]
    score_task: str | None
    asked_again: Collection[str]
    nests: Mapping[str, Sequence[str]]
    settings: PowerSection
    rules: ClaimRules
    n_permutations: int
    seed: int
    rarest_users: float
    tasks: Mapping[str, PlannedTask] = {}
    pilot: TaskLikeness = NO_PILOT
    is_by_probabilities: bool = False
    share_who: Mapping[str, float] = {}

    @property
    def lists(self) -> ListSource:
        """How lists are supposed to be answered."""
        lists = self.settings.lists
        return ListSource(lists.named, lists.options, lists.exponent)

    @property
    def letters(self) -> LetterSource:
        """How letters are supposed to be answered."""
        return LetterSource(self.settings.answer_share)

    def source(self, task: str) -> AnswerSource:
        """Of a task's answers that are options: that of most of its prompts."""
        questions = self.tasks[task]
        is_list = 2 * questions.count(["list"]) > questions.count(OPTION_KINDS)
        return self.lists if is_list else self.choices(task)

    def choices(self, task: str) -> LetterSource | ProbabilitySource:
        """How a task's choices are supposed to be answered."""
        if not self.is_by_probabilities:
            return self.letters
        return ProbabilitySource(self.supposed_share(task).value)

    def supposed_share(self, task: str) -> SupposedShare:
        """What of the variance of stated letters is supposed to lie between users."""
        setting = self.settings.share_who
        if setting is not None:
            return SupposedShare(setting, "`power.share_who`")
        if task in self.share_who:
            return SupposedShare(self.share_who[task], "as stored answers show")
        return SupposedShare(CAUTIOUS_SHARE, "cautious, as no answers of users are stored")

    def declared_source(
        self, task: str, question: ReaderQuestion
    ) -> ListSource | LetterProbabilities:
        """How the prompts of a declared question are supposed to be answered."""
        if "list" in (question.kinds or ()):
            return self.lists
        if self.is_by_probabilities:
            share = self.supposed_share(task).value
            return LetterProbabilities(share, N_LETTERS, self.lists.exponent)
        # letters are lists of one option
        return ListSource(1, N_LETTERS, self.lists.exponent)

    def n_settled(self, n_items: int) -> int:
        """Prompts that everybody answers alike; one is always open."""
        share = self.settings.settled_items
        return max(0, min(round(share * n_items), n_items - 1))

    def n_open(self, task: str) -> int:
        """Prompts whose options and distances are tested, and whose answers differ."""
        n_options = self.tasks[task].count(OPTION_KINDS)
        n_tested = self.settings.prompts or n_options if n_options else 0
        return n_tested - self.n_settled(n_tested)

    def sizes(self, task: str, n_users: int) -> Mapping[str, int]:
        """Users of each task where this one has so many; the others have those that the study asks."""
        return {name: self.runs[name] for name in self.tasks} | {task: n_users}

    def studies(self, scenario: Scenario, n_users: int) -> SimulatedStudies:
        """Studies of a size, with random numbers of their own."""
        n_tests = sum(
            questions.count(VALUE_KINDS) + int(questions.count(["scale"]) > 1)
            if scenario.measure == "value"
            else questions.count(OPTION_KINDS)
            for questions in self.tasks.values()
        )
        n_arms = len(self.models) * self.n_comparisons
        return SimulatedStudies(
            n_users,
            self.settings.simulations,
            self.n_permutations,
            permutations_to_resolve(n_arms * n_tests, LEVEL),
            self.rarest_users,
            generator(self.seed, "power", *scenario.seed_names, str(n_users)),
            len(self.rules.controls),
        )

    def scenarios(self) -> Iterator[Scenario]:
        """Every effect of the config's section `power`, by task."""
        graded_tasks = [task for task, questions in self.tasks.items() if questions.n_graded]
        # the task of figure 3 if its questions have right answers, else the first task whose have
        is_figure = self.score_task in graded_tasks
        score_task = self.score_task if is_figure else next(iter(graded_tasks), None)
        for task, questions in self.tasks.items():
            yield from self._effects_on_options(task, questions)
            yield from self._effects_on_values(task, questions)
            for size in self.settings.effects.scores if task == score_task else ():
                sd_users, sd_reruns = self.settings.sd_users, self.settings.sd_reruns
                effect = Effect("scores", size, sd_users=sd_users, sd_reruns=sd_reruns)
                yield self._scenario(task, "score", effect, self.choices(task), questions.n_graded)

    def _effects_on_options(self, task: str, questions: PlannedTask) -> Iterator[Scenario]:
        effects, n_options = self.settings.effects, questions.count(OPTION_KINDS)
        for change in effects.shares if n_options else ():
            effect = Effect("shares", change.condition, change.baseline)
            for measure in ("option_share", "distance"):
                yield self._scenario(task, measure, effect, self.source(task), n_options)
        # who asks in the commonest kind of question; what is no list is one of two answers
        for kind, n in [*questions.by_kind.items()][:1]:
            source = self.lists if kind == "list" else self.letters
            for share in effects.who:
                one = self._scenario(task, "share_who", Effect("who", share), source, n, kind)
                if self.is_by_probabilities and kind == "choice":
                    # one call says what more of them would be drawn from
                    yield one._replace(source=ProbabilitySource(share), likeness=0.0, basis="")
                    continue
                for replicates in sorted(self.settings.replicates):
                    yield one._replace(replicates=replicates)
        for name, question in declared_questions().items():
            n = questions.count(question.kinds)
            if n and question.names[name].of == "options":
                of_question = self.declared_source(task, question)
                for bits in effects.entropy:
                    yield self._scenario(
                        task, name, Effect("entropy", bits), of_question, n, "list"
                    )

    def _effects_on_values(self, task: str, questions: PlannedTask) -> Iterator[Scenario]:
        """In one question of the commoner kind, in all scales together, and of declared numbers."""
        n_scales, n_values = questions.count(["scale"]), questions.count(VALUE_KINDS)
        points = ValueSource(self.settings.scale_points)
        numbers = {
            name: questions.count(question.kinds)
            for name, question in declared_questions().items()
            if question.names[name].of != "options"
        }
        for size in self.settings.effects.values:
            if n_values:
                source = points if 2 * n_scales >= n_values else ValueSource(0)
                one = self._scenario(task, "value", Effect("values", size), source, n_values)
                yield one._replace(n_settled=0)
            if n_scales > 1:
                effect = Effect("values", size, n_together=n_scales)
                one = self._scenario(task, "value", effect, points, n_scales, "scale")
                yield one._replace(n_settled=0)
            for name, n in numbers.items():
                if n:
                    effect = Effect("values", size)
                    yield self._scenario(task, name, effect, ValueSource(0), n, "number")

    def _scenario(
        self,
        task: str,
        measure: str,
        effect: Effect,
        source: AnswerSource | ValueSource,
        n_items: int,
        kind: ItemKind | None = None,
    ) -> Scenario:
        """A scenario of this study.

        Args:
            kind: of the prompts whose answers are alike; None where likeness does not matter.
        """
        likeness = Likeness(0.0, basis="")
        if kind:
            likeness = supposed_likeness(self.settings.likeness, self.pilot, task, kind)
        return Scenario(
            measure=measure,
            effect=effect,
            source=source,
            n_items=n_items,
            n_settled=self.n_settled(n_items),
            odd_users=self.settings.odd_users,
            likeness=likeness.value,
            task=task,
            basis=likeness.basis,
        )
