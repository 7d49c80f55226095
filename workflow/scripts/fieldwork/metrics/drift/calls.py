"""The calls of all waves in one frame, with what is measured of each; and two waves side by side.

Owns which calls have a value of which measure. A call that failed has none. Calls are compared on items
and users that both waves have values of.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from fieldwork import tables
from fieldwork.estimates.answer_sets import answer_options
from fieldwork.records.answer_form import FormReading
from fieldwork.records.drift import Drift, DriftMeasure
from fieldwork.records.generation import Response
from fieldwork.records.parsing import REFUSALS, UNKNOWN
from fieldwork.records.tasks import LETTER_KINDS
from fieldwork.statistics.arrays import Flags, Floats, Indices

KEYS = ["model", "task", "condition", "item_id", "puppet_id", "replicate"]
"""The columns that tell a call from all others."""

NO_ANSWERS = "no answers in"
"""How the reason of a row begins whose wave has none."""

_ANSWER_COLUMNS = (*KEYS, "kind", "outcome", "items", "letter", "reason")
_FORM_COLUMNS = (*KEYS, "words")
_RESPONSE_COLUMNS = (*KEYS, "latency_s", "dispatch", "returned_model", "fingerprint")
_AT_ONCE = ("live", "recorded")

Form = Literal["share", "number", "time", "options", "letters"]
"""What values of a measure are: 0 or 1, positive numbers, seconds, sets of options, or single letters."""


def lacks_answers(row: Drift) -> bool:
    """Whether the wave of a row has no answers of its model to its task."""
    return (row.reason or "").startswith(NO_ANSWERS)


class MeasureKind(NamedTuple):
    """How a measure is read from a frame of calls.

    Attributes:
        values: of each call, None or NaN where it has none.
    """

    name: DriftMeasure
    form: Form
    values: Callable[[pd.DataFrame], Sequence[Any]]


class WavePair(NamedTuple):
    """The values of one measure in the first wave and a later one, a value a call.

    Attributes:
        items, strata: numbers of the items, and of the items of each user.
        is_later: whether the call is of the later wave.
    """

    values: Sequence[Any]
    items: Indices
    strata: Indices
    is_later: Flags

    @property
    def n_items(self) -> int:
        return int(self.items.max()) + 1 if len(self.items) else 0

    def sums(self, places: Indices, values: Floats | float = 1.0) -> Floats:
        """Sums of a value a call by place and wave, shape (places, 2)."""
        sums = np.zeros((int(places.max(initial=-1)) + 1, 2))
        np.add.at(sums, (places, self.is_later.astype(np.int64)), values)
        return sums

    def item_sizes(self) -> Floats:
        """Calls of both waves to each item, shape (items, 2)."""
        return self.sums(self.items)

    def item_means(self, values: Floats) -> Floats:
        """Mean of a value a call for each item in both waves, shape (items, 2)."""
        return self.sums(self.items, values) / self.item_sizes()


def read_calls_of_waves(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    forms: Sequence[str],
    responses: Sequence[str],
    conditions: Sequence[str],
) -> pd.DataFrame:
    """A row for each call under `conditions` that did not fail, in order, with all that is measured.

    Args:
        answers: rows of `answers/answers`.
        items: of the tasks, with a column `task`.
        forms, responses: paths of tables of these.
    """
    frame = answers.loc[
        answers["condition"].isin(conditions) & (answers["outcome"] != "failed"),
        list(_ANSWER_COLUMNS),
    ]
    golds = items[["task", "item_id", "gold"]]
    frame = frame.merge(golds, on=["task", "item_id"], how="left", validate="many_to_one")
    for paths, row_type, columns in (
        (forms, FormReading, _FORM_COLUMNS),
        (responses, Response, _RESPONSE_COLUMNS),
    ):
        rows = [row for path in paths for row in tables.read_columns(path, row_type, columns)]
        other = pd.DataFrame(rows, columns=list(columns), dtype=object)
        frame = _with_users(frame).merge(
            _with_users(other), on=KEYS, how="left", validate="one_to_one"
        )
    return frame.sort_values(KEYS, kind="stable", ignore_index=True)


def _with_users(frame: pd.DataFrame) -> pd.DataFrame:
    """Without a user the empty text stands for NULL, which no join would match."""
    users = frame["puppet_id"].astype(object)
    replicates = frame["replicate"].astype(np.int64)
    return frame.assign(puppet_id=users.where(users.notna(), ""), replicate=replicates)


def pair_of(first: pd.DataFrame, later: pd.DataFrame, measure: MeasureKind) -> WavePair:
    """Both waves' calls with a value, to the items and users that both have one of, in order."""
    sides = []
    for is_later, frame in enumerate((first, later)):
        values = pd.Series([*measure.values(frame)], index=frame.index, dtype=object)
        side = frame.loc[values.notna(), ["item_id", "puppet_id", "replicate"]]
        sides.append(side.assign(value=values[values.notna()], is_later=bool(is_later)))
    cells = [set(zip(side["item_id"], side["puppet_id"], strict=True)) for side in sides]
    shared_cells = cells[0] & cells[1]
    calls = pd.concat(sides, ignore_index=True)
    names = list(zip(calls["item_id"], calls["puppet_id"], strict=True))
    calls = calls[[name in shared_cells for name in names]].sort_values(
        ["item_id", "puppet_id", "is_later", "replicate"], kind="stable"
    )
    strata = calls.groupby(["item_id", "puppet_id"], sort=True).ngroup().to_numpy()
    return WavePair(
        values=calls["value"].tolist(),
        items=pd.factorize(calls["item_id"], sort=True)[0].astype(np.int64),
        strata=strata.astype(np.int64),
        is_later=calls["is_later"].to_numpy(dtype=np.bool_),
    )


def measures_of(frame: pd.DataFrame) -> Iterator[MeasureKind]:
    """The measures that calls of a task can have, in order: those that one call at least has."""
    for measure in MEASURES:
        if any(not _is_null(value) for value in measure.values(frame)):
            yield measure


def _is_null(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def returned_models(frame: pd.DataFrame) -> str | None:
    """What the provider called the model that answered, with fingerprints, in alphabetical order."""
    pairs = set(zip(frame["returned_model"], frame["fingerprint"], strict=True))
    names = {
        " ".join([str(model or "?"), *([f"({fingerprint})"] if fingerprint else [])])
        for model, fingerprint in (
            (None if pd.isna(m) else m, None if pd.isna(f) else f) for m, f in pairs
        )
        if model or fingerprint
    }
    return ", ".join(sorted(names)) or None


# ---- the measures --------------------------------------------------------------------------------------


def _accuracy(frame: pd.DataFrame) -> list[bool | None]:
    return [
        letter == gold if kind == "choice" and isinstance(gold, str) else None
        for kind, letter, gold in zip(frame["kind"], frame["letter"], frame["gold"], strict=True)
    ]


def _letters(frame: pd.DataFrame) -> list[tuple[str, ...] | None]:
    return [
        (answer_options(kind, None, letter) or (UNKNOWN,)) if kind in LETTER_KINDS else None
        for kind, letter in zip(frame["kind"], frame["letter"], strict=True)
    ]


def _options(frame: pd.DataFrame) -> list[tuple[str, ...] | None]:
    return [
        (answer_options(kind, items, None) or None) if kind == "list" else None
        for kind, items in zip(frame["kind"], frame["items"], strict=True)
    ]


def _length(frame: pd.DataFrame) -> list[float | None]:
    return [None if pd.isna(words) else float(words) for words in frame["words"]]


def _refusals(frame: pd.DataFrame) -> list[bool]:
    return [reason in REFUSALS for reason in frame["reason"]]


def _format_failures(frame: pd.DataFrame) -> list[bool]:
    return [isinstance(reason, str) and reason not in REFUSALS for reason in frame["reason"]]


def _latency(frame: pd.DataFrame) -> list[float | None]:
    return [
        float(seconds)
        if dispatch in _AT_ONCE and not pd.isna(seconds) and 0 < float(seconds) < math.inf
        else None
        for seconds, dispatch in zip(frame["latency_s"], frame["dispatch"], strict=True)
    ]


MEASURES: Sequence[MeasureKind] = (
    MeasureKind("accuracy", "share", _accuracy),
    MeasureKind("letters", "letters", _letters),
    MeasureKind("options", "options", _options),
    MeasureKind("length", "number", _length),
    MeasureKind("refusals", "share", _refusals),
    MeasureKind("format_failures", "share", _format_failures),
    MeasureKind("latency", "time", _latency),
)
"""Every measure, in the order of the findings."""

FORMS: Mapping[DriftMeasure, Form] = {measure.name: measure.form for measure in MEASURES}
"""What the values of each measure are."""
