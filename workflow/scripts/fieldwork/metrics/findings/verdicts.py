"""What the tests of a study show, in the words of the page.

A difference is claimed only where the table `claims` says that it differs, so that the summary, the
warnings and the tables never disagree.
"""

import re
from typing import Any, NamedTuple

from fieldwork.markdown_text import literal
from fieldwork.measures import measures
from fieldwork.metrics.claims.families import PRIMARY
from fieldwork.metrics.claims.lookup import ClaimLookup
from fieldwork.metrics.findings.wording import NumberStyle
from fieldwork.records.claims import Claim

UNDECIDED_VERDICT = "not detected"

_NO_TEST = re.compile(r"^no (?:interval and no )?(?:test|excess|difference): ")

_POINTS = NumberStyle("", 1, 100, "points")
_SHARE = NumberStyle("", 1, 100, "%")
_UNITS = {
    "share_who": _SHARE,
    "share_user": _SHARE,
    "share_context": _SHARE,
    "option_share": _POINTS,
    "score": _POINTS,
    "novelty": _POINTS,
    "variant_accuracy": _POINTS,
    "variant_flips": _POINTS,
    "group_gap": _POINTS,
    "group_option": _POINTS,
    **{
        name: NumberStyle("", 1 if measure.scale > 1 else 2, measure.scale, measure.unit)
        for measure in measures().values()
        for name in (measure.name, measure.beside_field)
        if name and measure.unit
    },
}
"""How effects of a measure are printed."""

_SHARES = [measure for measure, style in _UNITS.items() if style.scale > 1]
"""Measures whose effect is never larger than 1: no number of points above 100 is an effect to find."""


MEASURE_NAMES = {
    "share_who": "variance between contexts",
    "share_user": "variance between users",
    "share_context": "variance between contexts of one user",
    "distance": "answers",
    "option_share": "options",
    **{
        name: measure.words or measure.title
        for name, measure in measures().items()
        if measure.is_claimed
    },
    "score": "scores",
    "score_spread": "spread of scores",
    "value": "scales and numbers",
    "novelty": "novelty",
    "categories": "categories of subjects",
    "variant_accuracy": "accuracy when put otherwise",
    "variant_flips": "letters when put otherwise",
    "group_gap": "groups of people",
    "group_option": "options of groups",
    "practice_order": "order of models in practice",
    "group_difference": "groups of real users",
    "field_order": "order of the field",
    **{
        measure.beside_field: f"{measure.words or measure.title} beside the field"
        for measure in measures().values()
        if measure.beside_field
    },
    "field_distance": "distance from the field",
    "field_value": "scales and numbers beside the field",
    "field_place": "places in the field",
}
"""What the page calls the measures of `claims`."""


class FindingVerdict(NamedTuple):
    """What a test says, in the words of the table's last column.

    Attributes:
        is_tested: False where nothing could have been shown; the text then gives the reason.
        is_shown: the test shows a difference.
        is_equivalent: any difference is within the study's margin.
    """

    text: str
    is_tested: bool = False
    is_shown: bool = False
    is_equivalent: bool = False


NO_TEST = FindingVerdict("no test")
BASELINE = FindingVerdict("baseline")


class StudyClaims(ClaimLookup):
    """The claims of a study in the words of the page."""

    def verdict(self, measure: str, row: Any) -> FindingVerdict:
        """What the test of a row shows."""
        claim = self.of(measure, row)
        if claim is None:
            return missing_test(row.reason)
        verdict = claim_verdict(claim)
        is_primary = verdict.is_shown and claim.family == PRIMARY
        return verdict._replace(text=f"{verdict.text} (primary)") if is_primary else verdict


def claim_verdict(claim: Claim) -> FindingVerdict:
    """A claim in words."""
    if claim.verdict == "not tested":
        return missing_test(claim.reason)
    if claim.verdict == "cannot be shown":
        return FindingVerdict(f"cannot be shown: {literal(claim.reason or '')}")
    if claim.verdict == "differs":
        return FindingVerdict(claim.direction or "differs", True, True)
    if claim.verdict == "equivalent":
        margin = effect_text(claim.measure, claim.margin)
        return FindingVerdict(f"equivalent (±{margin})", True, is_equivalent=True)
    if claim.unconfirmed:
        return FindingVerdict(f"not confirmed {literal(claim.unconfirmed)}", True)
    if claim.measure in _SHARES and (claim.smallest_effect or 0.0) > 1:
        return FindingVerdict(f"{UNDECIDED_VERDICT}: too few answers", True)
    effect = effect_text(claim.measure, claim.smallest_effect)
    return FindingVerdict(
        f"{UNDECIDED_VERDICT} ({effect} would be)" if effect else UNDECIDED_VERDICT, True
    )


def effect_text(measure: str, effect: float | None) -> str:
    """An effect with its unit: `3.1 points`; empty where it has none."""
    return "" if effect is None or measure not in _UNITS else _UNITS[measure].amount(effect)


def missing_test(reason: str | None) -> FindingVerdict:
    """No test, with the table's own reason: of several, the one that is about the test."""
    parts = (reason or "").split("; ")
    reasons = [_NO_TEST.sub("", part) for part in parts if _NO_TEST.match(part)] or parts
    # code signs of a reason would be escaped one by one
    text = literal("; ".join(reasons).replace("`", "'"))
    return FindingVerdict(f"no test: {text}" if text else "no test")


def joined_verdict(first: FindingVerdict, second: FindingVerdict) -> FindingVerdict:
    """What two tests of one row show: the second is named only where it shows something."""
    if not second.is_shown:
        return first
    text = f"{first.text}, {second.text}" if first.is_shown else second.text
    return FindingVerdict(text, True, True)
