"""Filters of a corpus as most tests want them."""

from typing import Any

from fieldwork.sections.corpora import FiltersSection


def filters_of(**settings: Any) -> FiltersSection:
    """Those settings; all else keeps every conversation with a message by the user."""
    nothing = {"min_user_turns": 1, "exclude_toxic": False, "exclude_redacted": False}
    return FiltersSection(**nothing | settings)
