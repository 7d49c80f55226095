"""Who judges which unit, in which order, and which side is shown first.

Each rater gets as many units as another, give or take one. A share of the units goes to several raters,
the least busy ones. Some of a rater's units come twice, far apart and unannounced. All is drawn from the
seed: equal settings give the equal kit.
"""

import math
import random
from collections.abc import Sequence

from fieldwork.errors import StudyError
from fieldwork.records.judging import Allotment, Side, UnitText
from fieldwork.sections.judging import UnitSharing


def rater_codes(n: int) -> list[str]:
    """What raters are called in links and files: R01 and on."""
    digits = max(2, len(str(n)))
    return [f"R{number:0{digits}}" for number in range(1, n + 1)]


def sharing_sentence(sharing: UnitSharing) -> str:
    """How units are shared, for a reader."""
    return (
        f"{sharing.overlap:.0%} of the units are judged by {sharing.shared_by} of them, and "
        f"{sharing.repeated:.0%} of a rater's units come twice."
    )


def allot_units(
    units: Sequence[UnitText], sharing: UnitSharing, name: str, *, seed: int
) -> list[Allotment]:
    """The units of one entry of `judging.units`, allotted.

    Args:
        name: of the entry.
        seed: of every draw.

    Raises:
        StudyError: fewer raters than a unit is to have.
    """
    if sharing.shared_by > sharing.raters:
        raise StudyError(
            f"judging.kit.shared_by: {sharing.shared_by} raters are to judge a unit, and there are "
            f"{sharing.raters} (judging.kit.raters); lower the one, or raise the other"
        )
    generator = random.Random(f"kit:{seed}:{name}")
    codes = sorted(unit.code for unit in units)
    generator.shuffle(codes)
    n_shared = min(len(codes), math.ceil(sharing.overlap * len(codes)))
    by_rater: dict[str, list[str]] = {rater: [] for rater in rater_codes(sharing.raters)}
    for place, code in enumerate(codes):
        n_raters = sharing.shared_by if place < n_shared else 1
        for rater in _least_busy(by_rater, n_raters, generator):
            by_rater[rater].append(code)
    has_sides = {unit.code for unit in units if unit.text_b is not None}
    return [
        Allotment(rater, place, name, code, _side(code in has_sides, generator), is_repeat)
        for rater, own_codes in by_rater.items()
        for place, (code, is_repeat) in enumerate(_in_order(own_codes, sharing.repeated, generator))
    ]


def _least_busy(by_rater: dict[str, list[str]], n: int, generator: random.Random) -> list[str]:
    """The raters with the fewest units so far; among equals the draw decides."""
    raters = generator.sample(sorted(by_rater), len(by_rater))
    return sorted(raters, key=lambda rater: len(by_rater[rater]))[:n]


def _in_order(
    codes: Sequence[str], repeat_share: float, generator: random.Random
) -> list[tuple[str, bool]]:
    """A rater's units in an order of their own; those that come twice have half of all between them."""
    order = generator.sample(list(codes), len(codes))
    n_repeats = math.ceil(repeat_share * len(order)) if len(order) > 1 else 0
    # of the first half, so that a repeat finds its place in the second
    repeats = generator.sample(order[: (len(order) + 1) // 2], min(n_repeats, len(order) // 2))
    positions = [(code, False) for code in order]
    for code in sorted(repeats, key=order.index):
        first = positions.index((code, False))
        earliest = min(first + 1 + len(order) // 2, len(positions))
        positions.insert(generator.randint(earliest, len(positions)), (code, True))
    return positions


def _side(has_sides: bool, generator: random.Random) -> Side | None:
    if not has_sides:
        return None
    return "a" if generator.random() < 0.5 else "b"
