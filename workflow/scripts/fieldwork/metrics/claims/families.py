"""Which tests are corrected together, and how.

A study has one family of primary tests, one of conditions without a user, and one for each measure with
all its other tests. What joins a family is fixed by the question: tests of real users are none of
simulated ones, and negative controls are corrected as the tests are that they watch over, measure by
measure. Owns that division and what each correction promises: Holm's holds the chance of any false claim
in the family, Benjamini and Hochberg's the expected share of false claims among those made.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from fieldwork.metrics.claims.keys import ClaimKey
from fieldwork.metrics.claims.measures import MEASURES
from fieldwork.metrics.claims.study_test import StudyTest
from fieldwork.records.field import FIELD
from fieldwork.sections.study import PrimaryEntry
from fieldwork.statistics.families import LEVEL, benjamini_hochberg
from fieldwork.statistics.fisher import Support, holm_of_discrete

PRIMARY = "primary"
CONTROL = "control"
REAL_USERS = "real_users"
WITHOUT_USER = "without_user"

HOLM = "Holm"
BENJAMINI_HOCHBERG = "Benjamini-Hochberg"

_HOLM_FAMILIES = (
    PRIMARY,
    WITHOUT_USER,
    "option_share",
    "group_option",
    # asking again holds the order nearly always, which would make Benjamini and Hochberg's too lenient
    "practice_order",
)


class ClaimRules(NamedTuple):
    """What the study says of its claims.

    Attributes:
        primary: the tests that it is about.
        users: conditions with a user, real ones included.
        controls: conditions that ask the baseline again.
        margins: differences that count as none, by name.
        later_waves: conditions that ask the same anew; their tests are those of `metrics/drift`, as here
            each further wave would be another chance of a false claim.
    """

    primary: Sequence[PrimaryEntry]
    users: Sequence[str]
    controls: Sequence[str]
    margins: Mapping[str, float]
    later_waves: Sequence[str] = ()


def _includes(entry: PrimaryEntry, key: ClaimKey) -> bool:
    """Whether a test is one of those that the study is about."""
    # real users are no simulated ones: a test of theirs is primary only by name
    is_meant = (
        key.condition != FIELD if entry.conditions is None else key.condition in entry.conditions
    )
    return is_meant and _includes_under_any_condition(entry, key)


def _includes_under_any_condition(entry: PrimaryEntry, key: ClaimKey) -> bool:
    """Whether a test would be one of these under some condition."""
    limits = (
        (entry.models, key.model),
        (entry.tasks, key.task),
        (entry.items, key.item_id),
        (entry.options, key.detail),
    )
    return key.measure == entry.measure and all(
        names is None or name in names for names, name in limits
    )


def family_of(key: ClaimKey, rules: ClaimRules) -> str:
    """The family of a test: `primary`, `without_user` or its measure; of real users with `real_users_`.

    That of a control is `control_` and the family in which a user's test of the same measure stands: a
    control in a larger one could not warn where a user's test makes a claim. Tests against the field
    compare it with any condition, the baseline too, and are no controls; nor are those of two tasks,
    which have one condition.
    """
    form = MEASURES[key.measure]
    is_of_conditions = not (form.is_of_field or form.is_of_tasks)
    if is_of_conditions and key.condition in rules.controls:
        is_primary = any(_includes_under_any_condition(one, key) for one in rules.primary)
        return f"{CONTROL}_{PRIMARY if is_primary else key.measure}"
    if is_of_conditions and key.condition not in rules.users:
        return WITHOUT_USER
    if any(_includes(entry, key) for entry in rules.primary):
        return PRIMARY
    is_of_real_users = is_of_conditions and key.condition == FIELD
    return f"{REAL_USERS}_{key.measure}" if is_of_real_users else key.measure


def is_control(family: str) -> bool:
    """Whether the tests of a family ask the baseline again."""
    return family.startswith(f"{CONTROL}_")


def correction_of(family: str) -> str:
    """The name of a family's correction.

    Of the other measures options alone are corrected after Holm: most options are named so rarely that
    their tests could hardly have shown anything, which his correction can make use of.
    """
    name = family.removeprefix(f"{CONTROL}_").removeprefix(f"{REAL_USERS}_")
    return HOLM if name in _HOLM_FAMILIES else BENJAMINI_HOCHBERG


class CorrectedTest(NamedTuple):
    """A test within its family.

    Attributes:
        p_corrected: None where the test could not have been claimed.
        p_alone: the same, were nothing needed to confirm it.
        can_be_shown: whether it would have been claimed with the smallest p-values that the tests
            of the family could have.
        n_tests: tests of the family that count.
    """

    p_corrected: float | None
    p_alone: float | None
    can_be_shown: bool
    n_tests: int


def correct_p_values(
    p_values: Sequence[float], supports: Sequence[Support], family: str
) -> list[float]:
    """The correction of a family, of tests that could be claimed, in their order."""
    if correction_of(family) == HOLM:
        return holm_of_discrete(p_values, supports)
    return benjamini_hochberg(p_values)


def correct_family(tests: Sequence[StudyTest], family: str) -> list[CorrectedTest]:
    """Correct the p-values of one family, in its order.

    A difference that has to be shown by several tests has the largest of their p-values: each of them
    alone would have to be wrong (an intersection-union test, Berger 1982). What limits the p-value of the
    first limits the largest too. A test whose smallest possible p-value is not below the level is set
    aside first: it can never be claimed, and what it could have had does not depend on what it found
    (Tarone 1990).
    """
    places = [
        place
        for place, test in enumerate(tests)
        if test.p_value is not None and test.p_least < LEVEL
    ]
    supports = [tests[place].support for place in places]

    def corrections(p_of: Callable[[StudyTest], float]) -> list[float]:
        return correct_p_values([p_of(tests[place]) for place in places], supports, family)

    corrected_tests = [CorrectedTest(None, None, False, len(places)) for _ in tests]
    for place, p_value, p_alone, p_least in zip(
        places,
        corrections(lambda test: test.p_confirmed),
        corrections(lambda test: test.p_value or 0.0),
        corrections(lambda test: test.p_least),
        strict=True,
    ):
        corrected_tests[place] = CorrectedTest(p_value, p_alone, p_least < LEVEL, len(places))
    return corrected_tests
