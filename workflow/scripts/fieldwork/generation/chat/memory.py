"""Memory that a model needs, and memory that is free."""

import psutil

from fieldwork.errors import StudyError, size_text


def require_memory(name: str, n_bytes: float) -> float:
    """The bytes of memory that are free; StudyError where a model needs more."""
    available = float(psutil.virtual_memory().available)
    if n_bytes > available:
        raise StudyError(
            f"{name}: the model needs about {size_text(n_bytes)} of memory, and {size_text(available)} "
            f"are free; close other programs, or take a smaller model"
        )
    return available
