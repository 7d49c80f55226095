"""Why an estimate, its interval or its difference is missing: all reasons of the table of estimates."""

from fieldwork.estimates.declaration import Measure
from fieldwork.estimates.means import LEAST_MOVERS, Mean, MeanDifference
from fieldwork.statistics.intervals import MIN_ALIKE, Interval
from fieldwork.statistics.user_intervals import too_few_prompts, too_few_users

MIN_ANSWERS = 5
"""Answers below which a number would say too little of a group, and too much of single people."""
FEW_ANSWERS = f"fewer than {MIN_ANSWERS} answers"
NOT_RELIABLE = "no interval: none is reliable for this measure (docs/methods.md)"


def no_value(measure: Measure, n_without: int) -> str:
    """Of a prompt, or of all prompts, without an answer that has what the measure takes."""
    return (
        f"none of {n_without} {measure.noun}s {measure.absence}"
        if n_without
        else (f"no {measure.noun} {measure.absence}")
    )


def all_alike(measure: Measure) -> str:
    """Of a value that no answer, or no run, makes another."""
    article = "an" if measure.noun == "answer" else "a"
    return f"leaving out {article} {measure.noun} never changes the value"


def no_interval(
    measure: Measure, mean: Mean, interval: Interval | None, rarest: float
) -> str | None:
    """Why a mean has no interval; None where it has one."""
    if interval is not None:
        return None
    if measure.exact:
        return NOT_RELIABLE
    shortage = too_few_users(mean.n_units, rarest) if mean.has_users else None
    if shortage is None and len(mean.moves) == 1:
        return f"no interval: there is one {measure.noun}"
    return shortage or f"no interval: {all_alike(measure)}"


def missing_parts(
    measure: Measure,
    mean: Mean,
    interval: Interval | None,
    difference: MeanDifference | None,
    versus: str | None,
    other: Mean | None,
    rarest: float,
) -> str | None:
    """Why the interval of a mean, its difference or that one's interval and test are missing.

    Args:
        versus: what it is compared with; None for the baseline itself.
        other: its mean, where there is one on the same prompts.
    """
    of_mean = no_interval(measure, mean, interval, rarest)
    if versus is None or measure.exact:
        return of_mean
    if difference is None or other is None:
        what_is_missing = "run counts" if measure.noun == "run" else "prompt is answered"
        of_difference = f"no difference: no {what_is_missing} both here and under {versus}"
        return join_reasons(of_mean, of_difference)
    if difference.interval is not None:
        return of_mean
    if difference.p_value is None and measure.noun == "run":
        return join_reasons(of_mean, f"no test: there is one run here, or under {versus}")
    if difference.p_value is None and of_mean == f"no interval: {all_alike(measure)}":
        return f"no interval and no test: {all_alike(measure)}"
    if difference.p_value is None:
        return join_reasons(
            of_mean,
            f"no test: {all_alike(measure)} under {versus}, and fewer than {MIN_ALIKE} answers may be "
            "alike by chance",
        )
    if other.has_users and (shortage := too_few_users(other.n_units, rarest)):
        return join_reasons(of_mean, shortage)
    if of_mean:
        return of_mean
    return (
        "no interval of the difference: one side is always alike, and on the other fewer than "
        f"{LEAST_MOVERS} differ from the rest"
    )


ASKED_ONCE = (
    "no test: the baseline's probabilities were asked for once, so that nothing shows whether the model "
    "states the same twice; set tasks.*.runs to 2 or more"
)


def drawn_among_stated(n_here: int, n_there: int, versus: str) -> str | None:
    """That probabilities and drawn answers are mixed; None where they are not."""
    places = [
        f"{n:,} {place}" for n, place in ((n_here, "here"), (n_there, f"under {versus}")) if n
    ]
    if not places:
        return None
    return f"answers that state no probabilities count as drawn: {' and '.join(places)}"


def no_other_prompts(mean: Mean, interval: Interval | None, rarest_prompts: float) -> str | None:
    """Why nothing is said of prompts like these; None where something is."""
    reason = too_few_prompts(len(mean.values), rarest_prompts)
    if reason is None and interval is None:
        return "no interval for prompts like these: there is none for these"
    return reason


def join_reasons(*reasons: str | None) -> str | None:
    """Reasons as one text; None where there are none."""
    return "; ".join(dict.fromkeys(filter(None, reasons))) or None
