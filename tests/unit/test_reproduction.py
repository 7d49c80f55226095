"""`make reproduce`: the rule of its outcomes, its page from small tables, and folders that lack files."""

import dataclasses
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fieldwork.records.claims import Claim
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import (
    AnswerShare,
    Novelty,
    RunAccuracy,
    ScoreSpread,
    Shift,
)

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "benchmarks" / "reproduction"
PATHS = os.pathsep.join([str(ROOT / "workflow" / "scripts"), str(ROOT / "benchmarks")])
MODULES = ("paper", "rows", "verdicts", "evidence", "report", "result_rows", "machine")

ROW_TYPES = (
    Claim,
    Shift,
    Estimate,
    AnswerShare,
    RunAccuracy,
    ScoreSpread,
    Novelty,
)
Tables = dict[type[Any], list[Any]]


@pytest.fixture(scope="module")
def own() -> Iterator[SimpleNamespace]:
    """The benchmark's modules. Other benchmarks have some of the same names."""
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    before = {name: sys.modules.pop(name) for name in MODULES if name in sys.modules}
    try:
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in MODULES})
    finally:
        del sys.path[:2]
        for name in MODULES:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def row(row_type: type[Any], **values: Any) -> Any:
    """A row with these values, and nothing in its other columns."""
    blank = {f.name: None for f in dataclasses.fields(row_type)}
    unknown = set(values) - set(blank)
    assert not unknown, unknown
    return row_type(**{**blank, **values})


def claim(verdict: str, **values: Any) -> Claim:
    claim: Claim = row(Claim, verdict=verdict, **values)
    return claim


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(HERE / "run.py"), *arguments],
        env={**os.environ, "PYTHONPATH": PATHS},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# ---- the rule ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "direction", "outcome"),
    [
        (claim("differs", direction="rarer"), "rarer", "holds"),
        (claim("differs", direction="more common"), "rarer", "does not hold"),
        (claim("differs", direction="differs"), "rarer", "cannot be told"),
        (claim("differs", direction="differs"), "differs", "holds"),
        (claim("equivalent", ci_low=-0.05, ci_high=0.05), "rarer", "does not hold"),
        (claim("undecided", ci_low=-0.3, ci_high=0.1), "rarer", "cannot be told"),
        (claim("undecided", ci_low=0.01, ci_high=0.4), "rarer", "does not hold"),
        (claim("undecided", ci_low=0.01, ci_high=0.4), "more varied", "cannot be told"),
        (claim("undecided", ci_low=-0.4, ci_high=-0.01), "more varied", "does not hold"),
        (claim("undecided"), "wider", "cannot be told"),
        (claim("cannot be shown", reason="too few"), "wider", "cannot be told"),
        (claim("not tested", reason="no answers"), "more", "cannot be told"),
        (None, "more", "cannot be told"),
    ],
)
def test_a_tested_claim_is_judged_by_its_verdict_and_interval(
    own: SimpleNamespace, test: Claim | None, direction: str, outcome: str
) -> None:
    judgement = own.verdicts.judge_test(test, direction)
    assert judgement.outcome == outcome
    assert bool(judgement.reason) == (outcome == "cannot be told")


# ---- the page ----------------------------------------------------------------------------------------


def small_tables() -> Tables:
    """A model whose users change everything, and a control that changes nothing."""
    tables: Tables = {kind: [] for kind in ROW_TYPES}
    for condition in ("offline", "history", "rag", "profile", "offline_again"):
        _add_lists(tables, condition, moves=not condition.startswith("offline"))
    for condition in ("offline", "history", "profile", "offline_again"):
        _add_scores(tables, condition, moves=not condition.startswith("offline"))
    return tables


def _add_lists(tables: Tables, condition: str, *, moves: bool) -> None:
    arm: dict[str, Any] = {"model": "small", "task": "recommendations", "condition": condition}
    verdict = "differs" if moves else "undecided"
    interval = {"ci_low": -0.7, "ci_high": -0.44} if moves else {"ci_low": -0.1, "ci_high": 0.1}
    if condition != "offline":
        tables[Shift].append(
            row(
                Shift,
                **arm,
                item_id="companies",
                answer="Tesla",
                n_answers=40,
                baseline_share=0.93,
                share=0.35 if moves else 0.93,
                shift=-0.58 if moves else 0.0,
                **interval,
            )
        )
        tests = (
            ("option_share", "companies", "Tesla", "rarer"),
            ("entropy_bits", None, None, "more varied"),
        )
        for measure, item, detail, direction in tests:
            more = {"measure": measure, "item_id": item, "detail": detail, **arm, **interval}
            tables[Claim].append(claim(verdict, direction=direction if moves else None, **more))
    higher = {"profile": 2.0}.get(condition, 0.5) if moves else 0.0
    tables[Estimate].append(
        row(
            Estimate,
            **arm,
            measure="entropy_bits",
            reference="baseline",
            value=3.0 + higher,
            difference=higher,
            difference_low=higher - 0.1,
            difference_high=higher + 0.1,
            n_units=40,
        )
    )
    for metric in ("entropy_bits", "one_minus_top5_share", "unique_items"):
        values = {"value": 3.0 + higher, "n_answers": 30, "n_without": 10}
        tables[Estimate].append(row(Estimate, **arm, measure=metric, item_id="companies", **values))


def _add_scores(tables: Tables, condition: str, *, moves: bool) -> None:
    arm: dict[str, Any] = {"model": "small", "task": "mmlu_lite", "condition": condition}
    ends = (0.30, 0.35) if moves else (0.42, 0.43)
    tables[RunAccuracy] += [row(RunAccuracy, **arm, em_strict=end, is_counted=True) for end in ends]
    if condition == "offline":
        return
    score = {"measure": "em_strict", "reference": "baseline"}
    tables[Estimate].append(row(Estimate, **arm, **score, value=0.33, difference=-0.095))
    tables[ScoreSpread].append(
        row(ScoreSpread, **arm, metric="em_strict", sd=0.02, sd_baseline=0.01, n_units=10)
    )
    tables[Novelty].append(
        row(Novelty, **arm, n_equal=10, share=0.3, control_share=0.1, excess=0.2)
    )
    for measure, direction in (
        ("score_spread", "wider"),
        ("score", "differs"),
        ("novelty", "differs"),
    ):
        verdict = "differs" if moves else "undecided"
        tables[Claim].append(claim(verdict, measure=measure, direction=direction, **arm))


def page_of(own: SimpleNamespace, tables: Tables) -> str:
    rows = [*own.evidence.claim_rows(own.evidence.StudyTables(tables))]
    about = [own.rows.Row("about", "day", note="2026-11-22")]
    text: str = own.report.page([*about, *rows])
    return text


def section(page: str, title: str) -> list[str]:
    text = page.partition(f"### {title}")[2]
    assert text, title
    return text.split("\n### ")[0].split("\n## ")[0].splitlines()


def test_the_page_sets_each_claim_beside_its_numbers(own: SimpleNamespace) -> None:
    page = page_of(own, small_tables())
    tesla = section(page, "With a user, fewer lists of companies name Tesla.")
    assert "| SP-History | 93 % → 35 %, −58.0 [−70.0, −44.0], n = 40; **holds** |" in tesla
    # the control has numbers and no outcome
    assert "| Offline (again) | 93 % → 93 %, +0.0 [−10.0, +10.0], n = 40 |" in tesla
    patagonia = section(page, "With a user, fewer lists of companies name Patagonia.")
    assert "| SP-RAG | **cannot be told** (no list names Patagonia) |" in patagonia
    varied = section(page, "Lists are more varied with a user")
    assert (
        "| SP-Profile | 3.00 bits → 5.00 bits, +2.00 [+1.90, +2.10], n = 40; **holds** |" in varied
    )
    assert "| SP-History | 3 of 3; **holds** |" in section(page, "They are so on each")
    assert "**holds**" in "".join(section(page, "Of the three kinds of simulated users"))
    gap = section(page, "The lowest and highest of ten users")
    assert "| SP-History | 1.0 points → 5.0 points, n = 10; **holds** |" in gap
    assert "| Offline (again) | 1.0 points → 1.0 points, n = 10 |" in gap
    assert "**holds**" in "".join(section(page, "Every user scores below every rerun."))
    # ten users have no interval, so no direction
    letters = "".join(section(page, "To some questions users give a letter"))
    assert "10 % → 30 %, +20.0, n = 10; **cannot be told** (differs, without an interval" in letters
    assert "| SP-RAG | 25 % |" in "".join(section(page, "Lists that cannot be read")).replace(
        ", n = 40", ""
    )


# ---- the folder --------------------------------------------------------------------------------------


def test_a_folder_that_is_not_named_or_lacks_a_file_ends_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "conversations").mkdir()
    (tmp_path / "conversations/sharegpt_sample.parquet").touch()
    for data, problem in (
        ("", "ERROR: DATA is not set; enter make reproduce DATA=folder"),
        (
            "/nowhere",
            "ERROR: DATA=/nowhere: has no conversations/sharegpt_sample.parquet; set DATA to",
        ),
        (str(tmp_path), f"ERROR: DATA={tmp_path}: has no mmlu; set DATA to a folder"),
    ):
        done = run("--data", data, "--out", str(tmp_path))
        assert done.returncode == 1
        (line,) = done.stderr.splitlines()
        assert line.startswith(problem)
    assert not (tmp_path / "results.csv").exists()
