"""Names are nouns and verbs of the field: no bare participle, no adverb, and no class name twice."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"

# fmt: off
NOT_NAMES = frozenset((
    "after", "again", "ahead", "alone", "among", "apart", "away", "before", "beside",
    "between", "both", "each", "few", "here", "least", "more", "most", "near",
    "now", "once", "others", "own", "some", "there", "what", "when", "where",
    "who", "why", "within", "without",
    "asked", "brought", "built", "chosen", "drawn", "done", "dealt", "found", "given",
    "held", "hidden", "kept", "known", "learnt", "lost", "made", "meant", "met",
    "paid", "said", "seen", "sent", "shown", "sought", "spoken", "taken", "thrown",
    "told", "understood", "unread", "unseen", "withdrawn", "worn", "written",
))
# fmt: on
"""Words that say nothing of what a thing is: participles without a noun, adverbs, pronouns."""

NOUNS_AND_VERBS_IN_ED = frozenset(
    {"bed", "embed", "feed", "need", "proceed", "red", "seed", "speed"}
)


def bound_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Every name that a module binds, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno
            case ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.arg(arg=name) | ast.alias(asname=str(name)):
                yield name, node.lineno
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node.lineno


def is_barred(name: str) -> bool:
    """Whether a name is one word, and that word says nothing."""
    word = name.strip("_")
    if "_" in word or (any(letter.isupper() for letter in word[1:]) and not word.isupper()):
        return False
    word = word.lower()
    return word in NOT_NAMES or (word.endswith("ed") and word not in NOUNS_AND_VERBS_IN_ED)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def sources() -> list[Path]:
    return sorted(SCRIPTS.rglob("*.py"))


def test_names_say_what_a_thing_is() -> None:
    barred = [
        f"{path.relative_to(SCRIPTS)}, line {line}: {name}"
        for path in sources()
        # columns of tables and settings are names that users know
        if path.parent.name not in ("records", "sections")
        for name, line in bound_names(tree_of(path))
        if is_barred(name)
    ]
    assert not barred, f"rename to a noun or a verb of the field: {'; '.join(barred)}"


def test_a_class_name_means_one_thing() -> None:
    homes = defaultdict(list)
    for path in sources():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                homes[node.name.strip("_")].append(path.relative_to(SCRIPTS).as_posix())
    twice = {name: paths for name, paths in homes.items() if len(paths) > 1}
    assert not twice


def test_a_test_file_has_a_name_of_its_own() -> None:
    # pytest imports files of folders without __init__.py by their name alone
    homes = defaultdict(list)
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        if path.name != "conftest.py":
            homes[path.name].append(path.parent.name)
    twice = {name: folders for name, folders in homes.items() if len(folders) > 1}
    assert not twice
