"""`make reproduce`: the rule of its outcomes, its page from small tables, and folders that lack files."""

import dataclasses
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_type_hints

import pytest
import yaml

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


def test_a_claim_about_every_prompt(own: SimpleNamespace) -> None:
    holds, unsure = own.verdicts.Judgement("holds"), own.verdicts.Judgement("cannot be told", "x")
    low, high = own.verdicts.Range(0.0, 1.0), own.verdicts.Range(2.0, 3.0)

    def judge(*arguments: Any) -> str:
        return str(own.verdicts.judge_every_prompt(*arguments).outcome)

    assert judge(holds, 27, 27, [(high, low)]) == "holds"
    assert judge(holds, 26, 27, [(high, low)]) == "cannot be told"
    assert judge(unsure, 27, 27, [(high, low)]) == "cannot be told"
    assert judge(holds, 26, 27, [(high, low), (low, high)]) == "does not hold"
    assert judge(own.verdicts.Judgement("does not hold"), 27, 27, []) == "does not hold"


def test_a_claim_about_several_tests(own: SimpleNamespace) -> None:
    holds, fails = own.verdicts.Judgement("holds"), own.verdicts.Judgement("does not hold")
    unsure = own.verdicts.Judgement("cannot be told", "undecided")
    assert own.verdicts.judge_all([holds, holds]) == holds
    assert own.verdicts.judge_all([holds, fails, unsure]) == fails
    assert own.verdicts.judge_all([holds, unsure]).reason == "1 of 2 tests show it"
    assert own.verdicts.judge_all([]).outcome == "cannot be told"


def test_claims_about_ranges(own: SimpleNamespace) -> None:
    rules = own.verdicts
    holds, unsure = rules.Judgement("holds"), rules.Judgement("cannot be told", "x")
    wide, narrow, below = rules.Range(0.40, 0.44), rules.Range(0.40, 0.43), rules.Range(0.30, 0.34)
    assert rules.judge_width(wide, 0.037, holds).outcome == "holds"
    assert rules.judge_width(wide, 0.037, unsure).outcome == "cannot be told"
    assert rules.judge_width(narrow, 0.037, holds).outcome == "does not hold"
    assert rules.judge_width(None, 0.037, holds).outcome == "cannot be told"
    assert rules.judge_below(below, wide, claim("differs")).outcome == "holds"
    assert rules.judge_below(below, wide, claim("undecided")).outcome == "cannot be told"
    assert rules.judge_below(narrow, wide, claim("differs")).outcome == "does not hold"
    assert rules.judge_highest(wide, [below, below]).outcome == "holds"
    assert rules.judge_highest(below, [wide, below]).outcome == "does not hold"
    assert rules.judge_highest(wide, [narrow, below]).outcome == "cannot be told"
    assert rules.judge_highest(None, [wide]).outcome == "cannot be told"


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


def test_a_condition_that_was_not_asked_is_not_judged(own: SimpleNamespace) -> None:
    tables = small_tables()
    without = {
        t: [r for r in rows if getattr(r, "condition", "") != "rag"] for t, rows in tables.items()
    }
    rows = [*own.evidence.claim_rows(own.evidence.StudyTables(without))]
    assert not [row for row in rows if row.condition == "rag"]
    # a claim about three kinds of users cannot be one about two
    assert not [row for row in rows if row.claim == "profile first"]
    assert [row for row in rows if row.condition == "history"]


def test_every_claim_of_the_paper_stands_on_the_page_once(own: SimpleNamespace) -> None:
    page = page_of(own, small_tables())
    paper = own.paper
    for one in (*paper.LISTS, *paper.CHOICES, *paper.SCORES, *paper.FIELD):
        assert page.count(one.text) == 1, one.text
    names = {row.claim for row in own.evidence.claim_rows(own.evidence.StudyTables(small_tables()))}
    assert names - {"lists"} <= {one.name for one in (*paper.LISTS, *paper.CHOICES, *paper.SCORES)}


def test_rows_are_read_as_they_were_written(own: SimpleNamespace, tmp_path: Path) -> None:
    rows = [*own.evidence.claim_rows(own.evidence.StudyTables(small_tables()))]
    own.result_rows.write_rows(tmp_path, rows)
    again = own.result_rows.read_rows(tmp_path, own.rows.Row)
    assert own.report.page(again_with_day(own, again)) == own.report.page(again_with_day(own, rows))
    hints = get_type_hints(own.rows.Row)
    assert {type(value) for one in again for value in one} <= {str, int, float, type(None)}
    assert hints["n"] == (int | None)


def again_with_day(own: SimpleNamespace, rows: list[Any]) -> list[Any]:
    return [own.rows.Row("about", "day", note="2026-11-22"), *rows]


@pytest.mark.skipif(not (HERE / "results.csv").exists(), reason="not yet run")
def test_the_page_is_that_of_the_results(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_bytes((HERE / "results.csv").read_bytes())
    done = run("--page", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results.md").read_bytes() == (
        ROOT / "benchmarks/reproduction/results.md"
    ).read_bytes()


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


def test_parts_are_laid_over_the_study_and_name_what_it_has() -> None:
    study = yaml.safe_load((ROOT / "studies/reproduce.yaml").read_text(encoding="utf-8"))
    for name in ("lists", "scores"):
        part = yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
        assert part["study"]["name"] == f"reproduce_{name}"
        assert set(part["study"].get("models", ())) <= set(study["models"])
        assert set(part["study"]["tasks"]) <= set(study["tasks"])
        assert set(part["study"].get("conditions", ())) <= set(study["study"]["conditions"])
