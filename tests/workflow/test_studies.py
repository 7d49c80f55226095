"""Study files that set conditions side by side: planned on sample data, and one run small and whole."""

import csv
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from workflow.conftest import REPOSITORY, Checkout, copy_project, from_yaml, planned_rules, rows_of
from workflow.test_explorer import block_of, columns_of, leads_to

pytestmark = pytest.mark.workflow

SAMPLE = "resources/sample/conversations.parquet"
DOWNLOADED = ("wildchat_1m", "lmsys_chat_1m", "oasst2")
# the sample in their place is read and counted when the study is: it must be what it stands for
STAND_IN = {"path": SAMPLE, "format": "wildchat", "filters": {"languages": ["English"]}}
ON_HAND: dict[str, Any] = {"corpora": dict.fromkeys(DOWNLOADED, STAND_IN)}

# history_length.yaml with a condition of another corpus, which asks for one conversation too
SMALL = from_yaml(
    """
    study: {conditions: [offline, history_1, history_5, history_100, elsewhere], tasks: [recommendations]}
    corpora: {lmsys_chat_1m: {path: $sample, format: wildchat, filters: {min_user_turns: 6}}}
    conditions:
      history_100: {token_budget: 20_000}
      elsewhere: {context: history, label: Elsewhere, corpus: lmsys_chat_1m, pool: corpus, replicates: 2,
        profile: system}
    tasks: {recommendations: {runs: 4}}
    metrics: {permutations: 99}
    """,
    sample=SAMPLE,
)


@pytest.mark.parametrize("name", ["mechanisms", "corpora"])
def test_a_study_is_planned_on_data_at_hand(tmp_path: Path, name: str) -> None:
    study = Checkout(REPOSITORY, tmp_path)
    overlay = study.study("on_hand", ON_HAND)
    file = REPOSITORY / f"studies/{name}.yaml"
    planned = study.make("-n", "all", "--configfile", str(file), str(overlay))
    text = planned.stdout + planned.stderr
    assert {"measure_arms", "plot_arms"} <= planned_rules(text)
    assert "download_dataset" not in planned_rules(text)
    assert f"results/on_hand/figures/{name}.pdf" in text
    used = set(re.findall(r"results/on_hand/corpus/(\w+)/funnel", text))
    assert used == (set(DOWNLOADED) if name == "corpora" else {"sample"})


def test_nothing_of_a_corpus_that_no_condition_names_is_fetched(tmp_path: Path) -> None:
    study = Checkout(REPOSITORY, tmp_path)
    overlay = study.study("one", {"study": {"conditions": ["offline", "history_oasst2"]}})
    file = REPOSITORY / "studies/corpora.yaml"
    planned = study.make("-n", "all", "--configfile", str(file), str(overlay))
    fetched = set(re.findall(r"downloads/(\w+)/", planned.stdout + planned.stderr))
    assert fetched == {"oasst2"}


@pytest.fixture(scope="module")
def small_study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, tuple[str, ...]]:
    made = copy_project(tmp_path_factory.mktemp("arms") / "project")
    arguments = (
        *("--configfile", "studies/history_length.yaml"),
        str(made.study("small", SMALL)),
    )
    made.make("all", *arguments)
    return made, arguments


Small = tuple[Checkout, tuple[str, ...]]


def test_a_puppets_shorter_histories_end_its_longer_ones(small_study: Small) -> None:
    rows = rows_of(
        small_study[0],
        "SELECT puppet_id, list(conversation_ids ORDER BY len(conversation_ids))"
        " FROM 'RESULTS/small/contexts/recommendations/history_*.parquet' GROUP BY puppet_id",
    )
    assert len(rows) == 4
    for _, (one, five, cut) in rows:
        assert (len(one), len(five)) == (1, 5)
        assert five[-1:] == one
        # the budget leaves conversations out at the far end
        assert 5 < len(cut) < 100
        assert cut[-5:] == five


def test_the_table_of_arms_says_what_was_asked_for_and_what_is_held(small_study: Small) -> None:
    rows = rows_of(
        small_study[0],
        "SELECT condition, asked, conversations + dropped, conversations, tokens"
        " FROM 'RESULTS/small/metrics/arms.parquet' WHERE measure = 'share_who' ORDER BY position",
    )
    assert [row[:3] for row in rows] == [
        ("offline", 0, None),
        ("history_1", 1, 1),
        ("history_5", 5, 5),
        ("history_100", 100, 100),
        ("elsewhere", 1, 1),
    ]
    assert rows[3][3] < 100
    assert rows[3][4] <= 20_000


def test_trends_are_tested_and_no_cell_is_nan(small_study: Small) -> None:
    study, _ = small_study
    rows = rows_of(
        study,
        "SELECT measure, p_value, p_holm, reason FROM 'RESULTS/small/metrics/arm_tests.parquet'",
    )
    assert {row[0] for row in rows} == {"share_who", "var_answers", "from_baseline", "em_strict"}
    for name, p_value, p_holm, reason in rows:
        assert (p_value is None) == (name == "em_strict")
        # four puppets are tested, and have no interval
        assert ("4 users answer, and" in reason) == (p_value is not None)
        assert p_holm == p_value
    for table in ("arms", "arm_tests"):
        assert "nan" not in (study.root / f"results/small/metrics/{table}.csv").read_text().lower()


def test_the_database_says_which_corpus_a_conversation_is_from(
    small_study: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a search path would not do: results in the folder of the tests come before it
    monkeypatch.chdir(small_study[0].root)
    with duckdb.connect("results/small/study.duckdb", read_only=True) as database:
        rows = database.sql(
            "SELECT corpus, min(n_user_turns) FROM conversations GROUP BY 1 ORDER BY 1"
        ).fetchall()
    # the study's filter, and over it the corpus's own
    assert rows == [("lmsys_chat_1m", 6), ("sample", 1)]


def test_a_profile_stands_before_the_history(small_study: Small) -> None:
    rows = rows_of(
        small_study[0],
        "SELECT messages[1].role, p.puppet_id, len(conversation_ids)"
        " FROM 'RESULTS/small/contexts/recommendations/elsewhere.parquet' c"
        " JOIN 'RESULTS/small/personas/profiles.parquet' p ON messages[1].content = p.text",
    )
    assert [(role, n) for role, _, n in rows] == [("system", 1)] * 4
    # each has one of its own
    assert len({profile for _, profile, _ in rows}) == 4


def test_the_figure_is_drawn_and_in_the_report(small_study: Small) -> None:
    study, arguments = small_study
    for suffix in ("pdf", "svg", "png"):
        assert (
            study.root / f"results/small/figures/history_length.{suffix}"
        ).stat().st_size > 10_000
    again = study.snakemake("all", *arguments)
    assert "Nothing to be done" in again.stderr


def test_marks_of_the_figure_lead_to_their_answers(small_study: Small) -> None:
    page = small_study[0].results("small") / "explorer"
    block, columns = block_of(page), columns_of(page)
    marks = block["marks"]["history_length"]
    counts = [mark for mark in marks if mark["n"] is not None]
    assert len(marks) > len(counts) > 0
    for mark in counts:
        assert len(leads_to(mark["address"], block, columns)) == mark["n"], mark


def test_a_paid_model_is_planned_from_the_same_file(small_study: Small) -> None:
    study, arguments = small_study
    study.make("plan", *arguments, "--config", "study={models: [gpt-6-luna]}")
    text = (study.root / "results/small/plan.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["is_chosen"] == "True"]
    assert {row["basis"] for row in rows} == {"tables"}
    costs = {row["condition"]: float(row["cost_no_cache_usd"]) for row in rows}
    assert costs["offline"] < costs["history_1"] < costs["history_5"] < costs["history_100"]


NESTED = from_yaml("""
study: {corpus: sample, models: [embedded], tasks: [probe], conditions: [offline, first, second]}
conditions:
  first: &first {context: history, label: First, out_of: 2, replicates: 2}
  second: {<<: *first, label: Second, same_users_as: first}
tasks: {probe: {runs: 6}}
metrics: {permutations: 99}
""")


def test_the_same_users_are_asked_with_other_conversations(small_study: Small) -> None:
    study, _ = small_study
    targets = ("findings.md", "figures/who_asks.pdf")
    study.make(
        *(f"results/nested/{target}" for target in targets),
        *("--configfile", str(study.study("nested", NESTED))),
    )
    results = study.results("nested")
    shared = duckdb.sql(f"""
        SELECT count(*), count(list_intersect(a.conversation_ids, b.conversation_ids)[1])
        FROM '{results}/contexts/probe/first.parquet' a
        JOIN '{results}/contexts/probe/second.parquet' b USING (puppet_id)
    """).fetchall()
    assert shared == [(6, 0)]
    rows = duckdb.sql(f"""
        SELECT condition, n_contexts, n_users, n_nested, n_responses, share_user + share_context,
            1 - var_rerun / var_answers, p_user BETWEEN 0.01 AND 1, p_context BETWEEN 0.01 AND 1
        FROM '{results}/metrics/users_and_contexts.parquet'
    """).fetchall()
    (row,) = rows
    assert row[:5] == ("first", 2, 6, 6, 96)
    assert row[5] == pytest.approx(row[6])
    assert row[7:] == (True, True)
    claims = f"SELECT measure FROM '{results}/metrics/claims.parquet' WHERE source = 'users_and_contexts'"
    assert sorted(duckdb.sql(claims).fetchall()) == [("share_context",), ("share_user",)]
    findings = (results / "findings.md").read_text()
    section = findings.partition("### Users and contexts")[2].partition("\n### ")[0]
    assert "|probe|First " in section
    assert (results / "figures" / "who_asks.pdf").stat().st_size > 5_000
