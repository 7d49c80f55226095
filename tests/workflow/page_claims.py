"""The claims of a finished page, read as a reader reads them and set against the table of claims."""

import re

from workflow.conftest import Checkout, rows_of

_COUNT = re.compile(
    r"\*\*(?:Yes, for|Answers differ with a user on) ([\d,]+) of ([\d,]+) questions?\*\*"
)
_REPEATED = re.compile(r"repeated without a user, ([\d,]+) of ([\d,]+) differ")


def require_agreement(
    checkout: Checkout, study: str, users: tuple[str, ...], controls: tuple[str, ...] = ()
) -> None:
    """In short, the questions one by one and `claims` say the same of the same questions."""
    page = (checkout.results(study) / "findings.md").read_text(encoding="utf-8")
    short = page.partition("## In short")[2].partition("\n## ")[0]
    claimed = _differing(checkout, study, users)
    count = _COUNT.search(short)
    assert int(count[1].replace(",", "") if count else 0) == len(claimed), short
    if repeated := _REPEATED.search(short):
        assert int(repeated[1].replace(",", "")) == len(_differing(checkout, study, controls))
        assert count is None or repeated[2] == count[2]
    section = page.partition("## Question by question")[2].partition("\n## ")[0]
    blocks = section.split("\n### ")[1:]
    shown = [block for block in blocks if "**yes" in _without_repeats(block)]
    assert len(shown) == min(len(claimed), len(blocks))
    # those that differ stand first
    assert blocks[: len(shown)] == shown


def _differing(
    checkout: Checkout, study: str, conditions: tuple[str, ...]
) -> set[tuple[object, ...]]:
    if not conditions:
        return set()
    names = ", ".join(f"'{name}'" for name in conditions)
    return set(
        rows_of(
            checkout,
            f"""SELECT DISTINCT task, item_id FROM 'RESULTS/{study}/metrics/claims.parquet'
            WHERE verdict = 'differs' AND item_id IS NOT NULL AND condition IN ({names})
            AND measure IN ('distance', 'option_share', 'value')""",
        )
    )


def _without_repeats(block: str) -> str:
    lines = block.splitlines()
    return "\n".join(line for line in lines if not line.startswith("|repeated without a user"))
