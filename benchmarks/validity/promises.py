"""Does `snakemake power` keep its promises? Whole studies with an effect, with all tests and claims.

Each line sets what power promises beside the share of whole studies that claim the effect. Studies are
simulated here, from sources of this folder: answers of every arm, the metric tables, the claims. Lines
called *discarded* have the promise of the code before: of commit 44eda31, which made tests and
corrections of its own, or of commit 343ca1f3, to which a user's prompts were independent. Users whose
answers to different prompts are alike are drawn otherwise than `power` supposes: it knows of them no more
than an effect and one correlation, which pilots measure.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from populations import (
    LISTED,
    answer_table,
    by_table,
    choice_items,
    score_estimates,
)
from power_sources import (
    EXPONENT,
    HALF,
    OPTIONS,
    Liking,
    Source,
    Supposition,
    liked_letters,
    liked_lists,
    moved_letter,
    moved_option,
    own_letters,
    own_lists,
    two_letters,
    varied_lists,
)
from simulations import Line, Lines, Sets, Simulation

from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import questions
from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.power.likeness import measure_likeness
from fieldwork.metrics.power.simulation import simulate_effects
from fieldwork.metrics.power.study import PlannedStudy, PlannedTask
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.claims import Claim
from fieldwork.records.estimates import Estimate
from fieldwork.sections.power import PowerSection
from fieldwork.sections.study import PrimaryEntry

USERS = ("history", "rag", "profile")
PERMUTATIONS = 499
RAREST = 0.09
"""As the quickstart names them: means of 40 users have intervals, which their tests take into account."""
PROMISED_FROM = 2000
"""Simulated studies behind a promise."""
POINTS = 5
"""Of a scale."""
COMPANION = "probe"
"""A second task of four letters, so that a study has other tests than those of the effect's task."""
N_COMPANION, COMPANION_ITEMS = 20, 4
MARGINS = {"share_who": 0.05, "entropy_bits": 0.25, "score": 0.02, "share": 0.1}
RULES = ClaimRules(
    [PrimaryEntry(measure=measure) for measure in ("share_who", "entropy_bits", "score")],
    USERS,
    [],
    MARGINS,
)
BEFORE = "discarded: before, "


def lines_of(
    measure: str, source: str, powers: Mapping[str, float], claims: Sequence[float]
) -> Lines:
    """The promises as truths by the line's prefix, the claims as estimates of them."""
    for prefix, power in powers.items():
        name = f"{prefix}power of {measure}"
        yield Line(name, power, claims, claims=claims, place={"source": source})


def is_claimed(
    tables: Mapping[str, Sequence[Any]], rules: ClaimRules, is_effect: Callable[[Claim], bool]
) -> float:
    """1 where the page would say that the effect's test differs."""
    claim = next(claim for claim in measure_claims(tables, rules) if is_effect(claim))
    return float(claim.verdict == "differs")


def power_of(
    measure: str,
    n_users: int,
    source: Source | Supposition,
    tasks: Mapping[str, PlannedTask],
    *,
    rules: ClaimRules = RULES,
    repeated: Sequence[str] = (),
    n_permutations: int = PERMUTATIONS,
    place: int = 0,
    is_by_probabilities: bool = False,
) -> float:
    """What `snakemake power` promises of the effect, or of one of several effects by its place."""
    effects = dict.fromkeys(("shares", "who", "entropy", "scores", "values"), ()) | dict(
        source.effects
    )
    effects["shares"] = [SimpleNamespace(**change) for change in effects["shares"]]
    power = {
        "simulations": PROMISED_FROM,
        "sizes": [n_users],
        "replicates": [2],
        "prompts": None,
        # effects of which there are none are not simulated
        "effects": SimpleNamespace(**effects),
        "lists": SimpleNamespace(named=LISTED, options=OPTIONS, exponent=EXPONENT),
        "answer_share": HALF,
        "scale_points": POINTS,
        "settled_items": 0.0,
        "likeness": 0.0,
        "odd_users": 1.0,
        "sd_users": 0.0,
        "sd_reruns": 0.01,
        "share_who": None,
    }
    study = PlannedStudy(
        name="s",
        models={"m": "m"},
        conditions={name: name for name in USERS},
        baseline="offline",
        n_comparisons=len(USERS),
        runs={task: N_COMPANION if task == COMPANION else n_users for task in tasks},
        score_task="main",
        asked_again=repeated,
        nests={},
        settings=PowerSection.model_construct(**power | dict(source.supposed)),
        rules=rules,
        n_permutations=n_permutations,
        seed=1,
        rarest_users=RAREST,
        tasks=tasks,
        is_by_probabilities=is_by_probabilities,
    )
    powers = [
        curve.estimates[0].power or 0.0
        for curve in simulate_effects(study)
        if (curve.scenario.measure, curve.scenario.task) == (measure, "main")
        and ("m", USERS[0]) in curve.arms
    ]
    return powers[place]


def is_effect(measure: str, claim: Claim) -> bool:
    """Whether a claim is of the effect's test."""
    is_place = (claim.measure, claim.task) == (measure, "main")
    is_option = measure != "option_share" or claim.detail in ("o0000", "A")
    return (
        is_place and claim.condition == USERS[0] and claim.item_id in (None, "00000") and is_option
    )


class Promise(NamedTuple):
    """A study and the test of the effect.

    Attributes:
        make: the source, which may be read off many users.
        before: the promise of the code before, where there was one.
        likenesses: other suppositions than the source's own, by the prefix of their lines.
        answers: of a user to a prompt; single options and distances have one in any case.
    """

    measure: str
    make: Callable[[], Source]
    n_users: int
    before: float | None = None
    has_companion: bool = True
    likenesses: Mapping[str, float | None] = {}
    answers: int = 2

    @property
    def n_answers(self) -> int:
        """Answers of a user to a prompt."""
        return 1 if self.measure in ("option_share", "distance") else self.answers

    def study(self, source: Source, random: np.random.Generator) -> pd.DataFrame:
        """Answers of a whole study; the effect is in the first condition."""
        frames = []
        for condition in ("offline", *USERS):
            n_answers = self.n_answers if condition in USERS else 1
            drawn = source.draw(condition == USERS[0], (self.n_users, n_answers), random)
            frames.append(answer_table(drawn[None], condition).assign(task="main"))
            if self.has_companion:
                shares = np.full((COMPANION_ITEMS, N_COMPANION), HALF)
                letters = two_letters(shares, n_answers, random)[None]
                frames.append(answer_table(letters, condition).assign(task=COMPANION))
        frame = pd.concat(frames)
        return frame.assign(letter_strict=frame["letter"], reason=None)

    def tables(self, frame: pd.DataFrame, seed: int) -> dict[str, Sequence[Any]]:
        """The metric tables of the effect's family."""
        settings: dict[str, Any] = {"n_permutations": PERMUTATIONS, "seed": seed}
        settings["baseline"] = "offline"
        if self.measure == "option_share":
            return by_table(measure_shifts(frame, baseline="offline"))
        if self.measure == "distance":
            return by_table(measure_comparisons(frame, metrics=["js_bits"], **settings))
        tables: list[Sequence[Any]] = [measure_variance(frame, **settings)]
        estimates: list[Estimate] = []
        if (frame["kind"] == "list").any():
            of_estimates = EstimateSettings("offline", seed, USERS, rarest_users=RAREST)
            estimates += estimate_question(questions()["lists"], frame, of_estimates)
        letters = frame.loc[frame["kind"] == "choice", ["task", "item_id"]].drop_duplicates()
        if len(letters):
            items = choice_items([*letters["item_id"]], ["s"] * len(letters))
            runs = measure_runs(frame, items.assign(task=letters["task"].to_numpy()))
            estimates += score_estimates(runs, **settings, rarest_users=RAREST)
            tables.append(measure_score_spreads(runs, **settings, rarest_users=RAREST))
        return by_table(*tables, estimates)

    def power(self, source: Source) -> float:
        """What `snakemake power` says of such a study."""
        n = source.n_items
        tasks = {
            "main": PlannedTask({"list": n}) if source.is_list else PlannedTask({"choice": n}, n)
        }
        if self.has_companion:
            tasks[COMPANION] = PlannedTask({"choice": COMPANION_ITEMS}, COMPANION_ITEMS)
        repeated = USERS if self.n_answers > 1 else ()
        return power_of(self.measure, self.n_users, source, tasks, repeated=repeated)


def _reach(promise: Promise, sets: Sets) -> Lines:
    source = promise.make()
    claims = [
        is_claimed(
            promise.tables(promise.study(source, sets.random), sets.seed + number),
            RULES,
            partial(is_effect, promise.measure),
        )
        for number in range(sets.n)
    ]
    powers = {"": promise.power(source)}
    powers |= {} if promise.before is None else {BEFORE: promise.before}
    for prefix, likeness in promise.likenesses.items():
        powers[prefix] = promise.power(source._replace(supposed={"likeness": likeness}))
    title = f", likeness {source.supposed['likeness']:.2f}" if promise.likenesses else ""
    yield from lines_of(promise.measure, f"{source.name}{title}", powers, claims)


def _pilot(liking: Liking, n_users: int, sets: Sets) -> Lines:
    """The likeness that pilots measure, and what `power` takes it for, one error above."""
    source = liked_lists(9, liking, "entropy_bits")
    pilots = sets.each(_measure_pilot, source, n_users)
    truth, place = float(source.supposed["likeness"]), {"source": source.name}
    estimates = [pilot.estimate for pilot in pilots]
    yield Line("likeness of a pilot", truth, estimates, place=place)
    values = [pilot.value for pilot in pilots]
    yield Line("likeness supposed after a pilot", truth, values, place=place)


def _measure_pilot(source: Source, n_users: int, random: np.random.Generator) -> Any:
    frame = answer_table(source.draw(True, (n_users, 1), random)[None], USERS[0])
    (pilot,) = measure_likeness(frame.assign(task="main", value=np.nan)).values()
    return pilot


def _promises() -> list[Promise]:
    """The studies with their sources. The promises before had no settled prompts and no odd users."""
    single, nine, many = (
        partial(moved_letter, n, settled, 0.93, 0.35)
        for n, settled in ((1, 0), (9, 0), (150, 0.75))
    )
    lists = partial(moved_option, 9, 0.93, 0.35)
    moved = [
        Promise(measure, source, n_users, before, has_companion=source is not single)
        for measure in ("option_share", "distance")
        for source, n_users, before in (
            *((single, 40, 1.0), (nine, 40, 0.998), (many, 40, 0.979), (many, 20, 0.529)),
            *((lists, 40, 0.998), (lists, 20, 0.836)),
        )
    ]
    return [
        *moved,
        Promise("share_who", partial(own_letters, 75, 0.75, 0.1, 1.0), 20, 0.984),
        Promise("share_who", partial(own_letters, 75, 0.0, 0.05, 0.1), 20, 0.575),
        Promise("share_who", partial(own_lists, 9, 0.5, 1.0), 10, 0.608),
        Promise("share_who", partial(own_lists, 9, 1.5, 0.1), 20, 0.633),
        Promise("entropy_bits", partial(varied_lists, 9, 1.4, 1.0), 40),
        Promise("entropy_bits", partial(varied_lists, 9, 0.5, 0.1), 40),
    ]


FIRM = tuple(
    Liking(1.82, shared, freedom, is_firm=True)
    for shared, freedom in ((0.0, 0), (0.5, 0), (1.0, 0), (0.5, 3))
)
LOOSE = tuple(Liking(0.5, shared, freedom) for shared, freedom in ((0.5, 0), (1.0, 0), (0.5, 3)))


def _alike() -> list[Promise]:
    """Users who are alike over prompts: also what was promised before, and without a pilot."""
    before = {BEFORE: 0.0}
    entropy = [partial(liked_lists, 9, liking, "entropy_bits") for liking in FIRM]
    share_who = [
        source
        for liking in LOOSE
        for source in (
            partial(liked_lists, 9, liking, "share_who"),
            partial(liked_letters, 10, liking._replace(strength=1.4)),
        )
    ]
    without = before | {"without a pilot, ": None}
    return [
        # each user is asked once, so that the likings have no other test
        *(Promise("entropy_bits", make, 40, None, False, without, 1) for make in entropy),
        *(Promise("share_who", make, 20, None, False, before) for make in share_who),
    ]


SIMULATIONS = (
    *(
        Simulation("power", _reach, (promise,), "", f"{promise.n_users} users", (15,))
        for promise in (*_promises(), *_alike())
    ),
    *(Simulation("power", _pilot, (liking, 20), "", "20 users", (18,)) for liking in FIRM),
)
