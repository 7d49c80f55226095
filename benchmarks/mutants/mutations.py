"""One-line faults of the library, drawn by a seed: a comparison turned, a sign, a bound, a number."""

import ast
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

WINGS = (
    "statistics",
    "metrics",
    "parsing",
    "puppets",
    "tasks",
    "generation",
    "field",
    "judging",
    "memory",
    "exports",
)
"""Parts of the library with numbers to be lost; drawing, pages and settings are left out."""

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
_OPERATIONS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
}
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """A fault: in one line of a file a piece of text in the place of another.

    Attributes:
        file: relative to the library.
        line: counted from 1.
        start: of the piece in its line, in bytes of UTF-8, as Python's parser counts.
    """

    file: str
    line: int
    start: int
    old: str
    new: str

    def apply(self, library: Path) -> str:
        """Write the fault into a copy of the library; returns the text that was there."""
        path = library / self.file
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        line = lines[self.line - 1].encode()
        end = self.start + len(self.old.encode())
        if line[self.start : end] != self.old.encode():
            raise ValueError(f"{self.file}, line {self.line}: {self.old!r} is not there")
        lines[self.line - 1] = (line[: self.start] + self.new.encode() + line[end:]).decode()
        path.write_text("".join(lines), encoding="utf-8")
        return text


def draw_mutants(library: Path, n: int, seed: int) -> list[Mutant]:
    """Faults of different lines, wings in turn, so that small ones have theirs."""
    draw = random.Random(seed)
    by_wing = {wing: _mutants_of(library, wing) for wing in WINGS}
    for mutants in by_wing.values():
        draw.shuffle(mutants)
    drawn: list[Mutant] = []
    places: set[tuple[str, int]] = set()
    while len(drawn) < n and any(by_wing.values()):
        for mutants in by_wing.values():
            while mutants and len(drawn) < n:
                mutant = mutants.pop()
                if (mutant.file, mutant.line) not in places:
                    places.add((mutant.file, mutant.line))
                    drawn.append(mutant)
                    break
    return drawn


def _mutants_of(library: Path, wing: str) -> list[Mutant]:
    return [
        mutant
        for path in sorted((library / wing).rglob("*.py"))
        for mutant in mutants_in(
            path.read_text(encoding="utf-8"), path.relative_to(library).as_posix()
        )
    ]


def mutants_in(text: str, file: str) -> Iterator[Mutant]:
    """Every fault of a module that changes one piece of one line."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        for line, start, end, old, new in _pieces(node):
            piece = lines[line - 1].encode()[start:end].decode() if end else ""
            at = piece.find(old)
            # brackets and comments between the operands are rare, and are left alone
            if at >= 0 and piece.strip(" ()") == old:
                yield Mutant(file, line, start + len(piece[:at].encode()), old, new)


def _pieces(node: ast.AST) -> Iterator[tuple[int, int, int, str, str]]:
    """Line, start and end of the text that holds a piece, the piece, and what takes its place."""
    match node:
        case ast.Compare(ops=[operator], left=left, comparators=[right]):
            yield from _between(left, right, _COMPARISONS.get(type(operator)))
        case ast.BinOp(op=operator, left=left, right=right):
            yield from _between(left, right, _OPERATIONS.get(type(operator)))
        case ast.BoolOp(op=operator, values=[left, right]):
            yield from _between(
                left, right, ("and", "or") if isinstance(operator, ast.And) else ("or", "and")
            )
        case ast.Call(func=ast.Name(id=name) as function) if name in _CALLS:
            yield (*_place(function), name, _CALLS[name])
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            yield (*_place(node), str(value), str(value + 1))


def _between(
    left: ast.expr, right: ast.expr, words: tuple[str, str] | None
) -> Iterator[tuple[int, int, int, str, str]]:
    if words and left.end_lineno == right.lineno and left.end_col_offset is not None:
        yield left.end_lineno or 0, left.end_col_offset, right.col_offset, *words


def _place(node: ast.expr) -> tuple[int, int, int]:
    is_one_line = node.lineno == node.end_lineno
    return node.lineno, node.col_offset, (node.end_col_offset or 0) if is_one_line else 0


def wings_of(mutants: Sequence[Mutant]) -> dict[str, int]:
    """How many faults each wing has."""
    counts = dict.fromkeys(WINGS, 0)
    for mutant in mutants:
        counts[mutant.file.partition("/")[0]] += 1
    return counts
