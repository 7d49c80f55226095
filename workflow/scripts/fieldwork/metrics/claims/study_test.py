"""A test of a study as its metric table has it, and the further tests that have to confirm it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from fieldwork.metrics.claims.keys import ClaimKey
from fieldwork.statistics.fisher import Support, least_p


class Confirmation(NamedTuple):
    """A further test that has to show a difference before it is claimed.

    Attributes:
        of: what it compares, in words that complete "not shown ...".
        p_value: 1 where it points the other way, None where it could not be made.
    """

    of: str
    p_value: float | None


class StudyTest(NamedTuple):
    """A test as its metric table has it, before any correction.

    Attributes:
        direction: which way the difference goes, in words.
        support: the p-values that the test could have had; 0.0 where nothing limits them.
        margin: name of its margin in `metrics.margins`; None where the measure has none.
        is_one_sided: negative values of the estimate are chance alone.
        sides: value, reference and n, by the names of the columns of `claims`.
    """

    key: ClaimKey
    source: str
    estimate: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    support: Support
    direction: str | None
    margin: str | None
    is_one_sided: bool
    reason: str | None
    confirmations: Sequence[Confirmation] = ()
    sides: Mapping[str, Any] = MappingProxyType({})

    @property
    def p_confirmed(self) -> float:
        """The largest p-value of the test and of those that have to confirm it; 1 without a test."""
        p_values = [self.p_value, *(confirmation.p_value for confirmation in self.confirmations)]
        return 1.0 if self.p_value is None else max(p for p in p_values if p is not None)

    def missing_confirmations(self, level: float) -> list[str]:
        """What does not confirm it at a level, in words."""
        return [
            confirmation.of
            for confirmation in self.confirmations
            if confirmation.p_value is not None and confirmation.p_value >= level
        ]

    @property
    def p_least(self) -> float:
        """The smallest p-value that the test could have had; 0 where nothing limits it."""
        return least_p(self.support)
