"""Features of dialects of English, as rules on the surface of a text.

A table names dialect, feature, pattern, replacement and source, a row each; the rules of a dialect are
applied in the order of the table, each wherever it fits. The features are documented for the variety;
that they occur together, and each time they could, is not how anybody speaks. So a text after these rules
shows whether a model stumbles over documented features. It is no sample of how a community writes, and no
speaker's whole grammar: sounds, words, rhythm and choice are left out, and a rule sees no syntax.

Negations may change their form and never their meaning. What is protected is left alone. Doing it twice
is the same as once.
"""

from collections.abc import Sequence
from pathlib import Path

from fieldwork.errors import StudyError
from fieldwork.files import texts
from fieldwork.tasks.variants.substitution import WordingRule, settle, substitute, wording_rule

COLUMNS = ("dialect", "feature", "pattern", "replacement", "source")


def read_dialect(path: str | Path, dialect: str) -> list[WordingRule]:
    """The rules of a dialect, in the order of the table.

    Raises:
        StudyError: the table lacks the dialect, a row has no feature or no source, or a pattern is no
            regular expression.
    """
    dialects: dict[str, list[WordingRule]] = {}
    for row, cells in enumerate(texts.read_table(path, COLUMNS), start=2):
        if not all(cells[name].strip() for name in ("dialect", "feature", "pattern", "source")):
            raise StudyError(
                f"{path}: row {row} lacks its dialect, feature, pattern or source; complete or delete it"
            )
        rule = wording_rule(cells["pattern"], cells["replacement"], f"{path}: row {row}")
        dialects.setdefault(cells["dialect"].strip(), []).append(rule)
    if dialect not in dialects:
        raise StudyError(
            f"{path}: has no dialect {dialect!r}; correct the name, there are "
            f"{', '.join(sorted(dialects)) or 'none'}"
        )
    return dialects[dialect]


def put_dialect(text: str, features: Sequence[WordingRule]) -> str:
    """The text with the features of a dialect wherever they fit."""

    def change(wording: str) -> str:
        for feature in features:
            wording = substitute(wording, feature)
        return wording

    return settle(text, change)
