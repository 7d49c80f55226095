"""Finding the claim that belongs to a row of a metric table."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fieldwork import tables
from fieldwork.metrics.claims.keys import ClaimKey
from fieldwork.metrics.claims.measures import claim_key
from fieldwork.records.claims import Claim


class ClaimLookup:
    """The claims of a study, looked up by the rows of its metric tables."""

    def __init__(self, claims: Iterable[Claim] = ()) -> None:
        self._claims = {ClaimKey.of(claim): claim for claim in claims}

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims.values())

    def of(self, measure: str, row: Any) -> Claim | None:
        """The claim of a row; None where the page claims nothing of it."""
        return self._claims.get(claim_key(measure, row))

    def p_value(self, measure: str, row: Any) -> float | None:
        """The corrected p-value of a row."""
        claim = self.of(measure, row)
        return claim.p_corrected if claim else None


def add_corrections(frame: pd.DataFrame, claims: Sequence[Claim], measure: str) -> pd.DataFrame:
    """A metric table with its p-values as the study corrects them, in the column `p_corrected`.

    Args:
        measure: which of the table's tests, a name of `MEASURES`.
    """
    lookup = ClaimLookup(claims)
    # NULL is NaN in a frame, and None in the rows that claims were made from
    rows = frame.astype(object).where(frame.notna(), None)
    p_values = [lookup.p_value(measure, row) for row in rows.itertuples(index=False)]
    return frame.assign(p_corrected=np.array(p_values, dtype=np.float64))


def read_corrected(path: str, row_type: type[Any], claims: str, measure: str) -> pd.DataFrame:
    """A table of estimates, its p-values corrected as the table `claims` has them."""
    table = tables.read_frame(path, row_type)
    return add_corrections(table, tables.read_rows(claims, Claim), measure)
