"""How far the options named in a variant are from those of its origin, measured as in `comparisons`."""

from collections.abc import Iterator

from fieldwork.metrics.comparisons import EqualDistance, distance_at_equal_n, sample_tables
from fieldwork.metrics.robustness.estimates import BoundedMean, Form, bounded_mean, cell_values
from fieldwork.metrics.robustness.pairs import (
    Cell,
    Derivation,
    RobustnessSettings,
    TaskReplies,
    independent_replies,
)
from fieldwork.metrics.robustness.rows import basis_of, robustness_row
from fieldwork.records.robustness import Robustness
from fieldwork.statistics.seeds import generator


def distance_rows(derivation: Derivation, settings: RobustnessSettings) -> Iterator[Robustness]:
    """Rows about the Jensen-Shannon divergence of the options of lists, for each variant."""
    for variant in derivation.variants:
        yield from _distances(derivation, variant, settings)


def _distances(
    derivation: Derivation, variant: TaskReplies, settings: RobustnessSettings
) -> Iterator[Robustness]:
    distances = _items(derivation, variant, settings)
    columns: tuple[tuple[str, Form, dict[Cell, float]], ...] = (
        ("distance", "value", {c: d.value for c, d in distances.items()}),
        ("distance_same", "value", {c: d.expected_same for c, d in distances.items()}),
        (
            "excess_distance",
            "value_difference",
            {c: d.value - d.expected_same for c, d in distances.items()},
        ),
    )
    for metric, form, numbers in columns:
        if not numbers:
            reason = f"no item is answered both in {derivation.origin.task} and in {variant.task}"
            yield robustness_row(derivation, variant, metric, None, reason=reason)
            continue
        items = cell_values(numbers, has_users=False)
        estimate = bounded_mean(items, form, settings)
        if derivation.has_users:
            # the same users answer all items, so that items are not independent
            reason = "no interval: there is none over users"
            estimate = BoundedMean(estimate.value, None, reason)
        basis = basis_of(items)._replace(n_units=_count_units(derivation, len(numbers)))
        yield robustness_row(derivation, variant, metric, estimate, basis)


def _items(
    derivation: Derivation, variant: TaskReplies, settings: RobustnessSettings
) -> dict[Cell, EqualDistance]:
    sides = [independent_replies(task.replies) for task in (derivation.origin, variant)]
    distances = {}
    for item in sorted(sides[0].keys() & sides[1].keys()):
        of_origin, of_variant = (side[item] for side in sides)
        random = generator(settings.seed, *derivation.names("distance", variant.task, item))
        distances[Cell(item, "")] = distance_at_equal_n(
            sample_tables(of_variant, of_origin),
            "js_bits",
            min(len(of_variant), len(of_origin)),
            random,
        )
    return distances


def _count_units(derivation: Derivation, n_items: int) -> int:
    """Users of the origin; without users, items."""
    puppets = {cell.puppet for cell in derivation.origin.replies} - {""}
    return len(puppets) or n_items
