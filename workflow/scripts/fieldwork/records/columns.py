"""How a column is declared.

A table is a frozen dataclass, a column one line of it. The dataclasses are the only declaration of the
tables: `fieldwork.tables` derives the Parquet schema from them and checks each table against it on
write, and `docs/data.md` is generated from the same lines.
"""

from dataclasses import MISSING, field
from typing import Any


def column(meaning: str, default: Any = MISSING) -> Any:
    """Declare a column: `meaning` is its entry in the data dictionary."""
    return field(default=default, metadata={"meaning": meaning})
