"""What is computed again, and what is not, after a change."""

import csv
import hashlib
import os
import re
import sqlite3
from pathlib import Path

import duckdb
import pytest

from workflow.conftest import Checkout, answers_only

pytestmark = pytest.mark.workflow

LIBRARY = Path("workflow/scripts/fieldwork")
PAGES = {"write_findings", "write_explorer", "record_provenance", "build_database"}
OF_TESTS = {"measure_control_tests", "measure_claims"}
OF_ESTIMATES = {
    *("write_views", "measure_exactly", *OF_TESTS, "plot_fig1", "plot_fig4", "plot_who_asks")
}
# the tables of answers share a job, and what is drawn from them is drawn again
OF_TABLES = {
    *("measure_tables", "measure_runs", "measure_ranks"),
    *("plot_fig2", "plot_fig3", "plot_fig5"),
}


def plan(checkout: Checkout) -> set[str]:
    return checkout.plan("all") - {"all"}


def ledger_rows(checkout: Checkout) -> int:
    with sqlite3.connect(checkout.directory / "resources/ledger/embedded.sqlite") as ledger:
        (count,) = ledger.execute("SELECT count(*) FROM answers").fetchone()
    return int(count)


def test_touching_scripts_and_adding_comments_reruns_nothing(finished: Checkout) -> None:
    for script in (finished.root / "workflow/scripts").rglob("*.py"):
        os.utime(script)
    module = finished.root / LIBRARY / "metrics/accuracy.py"
    module.write_text("# a remark\n" + module.read_text())
    assert plan(finished) == set()


@pytest.mark.parametrize(
    ("module", "rules"),
    [
        (
            "metrics/accuracy.py",
            {*OF_TABLES, "measure_exactly", "write_views", "plot_fig4", "plot_who_asks"}
            | {*OF_TESTS, *PAGES},
        ),
        ("figures/fig2.py", {"plot_fig2", "write_explorer"}),
        (
            "estimates/means.py",
            {"measure_answers", "measure_forms", *OF_TABLES, *OF_ESTIMATES, *PAGES},
        ),
        ("measures/lists.py", {"measure_answers", *OF_ESTIMATES, *PAGES}),
        (
            "puppets/personas.py",
            {
                "build_profiles",
                # whose count stands before the corpus is embedded; stored vectors are taken again
                "count_puppets",
                "split_corpus",
                "embed_corpus",
                "build_contexts",
                "plan_all_requests",
                "ask_local_model",
                "parse_answers",
                "canonicalise_answers",
                "measure_answers",
                "measure_forms",
                *OF_TABLES,
                *OF_ESTIMATES,
                *PAGES,
            },
        ),
    ],
)
def test_changing_a_library_function_reruns_exactly_its_stages(
    finished: Checkout, module: str, rules: set[str]
) -> None:
    path = finished.root / LIBRARY / module
    path.write_text(path.read_text() + "\n\ndef unused() -> int:\n    return 1\n")
    assert plan(finished) == rules


def test_a_table_that_came_out_the_same_starts_nothing(finished: Checkout) -> None:
    path = finished.root / LIBRARY / "metrics/rarefaction.py"
    path.write_text(path.read_text() + "\n\ndef unused() -> int:\n    return 1\n")
    finished.make("results/quickstart/metrics/rarefaction.parquet")
    assert plan(finished) == set()


def test_with_a_job_a_table_a_change_makes_its_table_alone(finished: Checkout) -> None:
    overlay = finished.study("quickstart", {"metrics": {"one_job": False}})
    targets = [f"results/quickstart/metrics/{name}.csv" for name in ("shifts", "rarefaction")]
    command = (*targets, "--configfile", str(overlay))
    finished.make(*command)
    path = finished.root / LIBRARY / "metrics/shifts.py"
    path.write_text(path.read_text() + "\n\ndef unused() -> int:\n    return 1\n")
    assert finished.plan(*command) == {"measure_shifts"}


def test_a_changed_module_is_named(finished: Checkout) -> None:
    path = finished.root / LIBRARY / "estimates/means.py"
    path.write_text(path.read_text() + "\n\ndef unused() -> int:\n    return 1\n")
    planned = finished.make("-n", "results/quickstart/metrics/estimates/lists.parquet")
    (reason,) = re.findall(
        r"Params have changed since last execution: .*", planned.stderr + planned.stdout
    )[:1]
    changed = set(re.findall(r"'([\w/]+\.py) \w+'", reason))
    assert changed == {"fieldwork/estimates/means.py"}


def answers_by_request(checkout: Checkout) -> dict[tuple[object, ...], str]:
    """Ledger key of every response, by model, task, condition, item, puppet and replicate."""
    files = f"{checkout.directory}/results/quickstart/responses/*/recommendations/*.parquet"
    rows = duckdb.sql(
        f"SELECT task, condition, item_id, puppet_id, replicate, ledger_key FROM '{files}'"
    ).fetchall()
    return {tuple(request): key for *request, key in rows}


def test_a_change_that_needs_other_puppets_is_made_in_one_run(finished: Checkout) -> None:
    overlay = finished.study("quickstart", {"conditions": {"history": {"out_of": 2}}})
    planned = finished.plan("all", study=overlay)
    assert {"build_contexts", "ask_local_model", "write_findings"} <= planned
    # the provenance says what the new results were made with; what there is was counted before
    assert "record_provenance" in planned
    assert not {"count_puppets", "embed_corpus"} & planned
    overlay = finished.study("quickstart", {"conditions": {"history": {"out_of": 200}}})
    refused = finished.snakemake("-n", "all", "--configfile", str(overlay))
    assert "needs 40 users with 200 conversations or more" in refused.stderr + refused.stdout


def test_changing_one_prompt_asks_that_prompt_and_nothing_else(finished: Checkout) -> None:
    rows_before, before = ledger_rows(finished), answers_by_request(finished)
    prompts = finished.root / "resources/tasks/recommendations.csv"
    with prompts.open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    changed = rows[0]["item_id"]
    rows[0]["prompt"] += " Please."
    with prompts.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    finished.make(*answers_only("quickstart"))
    after = answers_by_request(finished)
    assert after.keys() == before.keys()
    moved = {request for request in after if after[request] != before[request]}
    assert {request[2] for request in moved} == {changed}
    # three blank arms of 40, three of 40 puppets who are asked twice
    assert len(moved) == 40 * (3 + 3 * 2)
    # an equal call under two conditions is one call: fewer rows than requests, never more
    assert ledger_rows(finished) == rows_before + len({after[request] for request in moved})


def test_a_persons_correction_reads_again_and_asks_nothing(finished: Checkout) -> None:
    assert plan(finished) == set()
    rows = duckdb.sql(
        f"SELECT item_id, text FROM '{finished.results()}/responses/embedded/recommendations/"
        "offline.parquet' ORDER BY item_id, replicate LIMIT 1"
    ).fetchall()
    ((item, text),) = rows
    with (finished.directory / "corrections.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["task", "item_id", "text_sha256", "reading"])
        key = hashlib.sha256(text.encode()).hexdigest()
        writer.writerow(["recommendations", item, key, "A film that nobody else names"])
    with (finished.root / "config.yaml").open("a", encoding="utf-8") as file:
        file.write("\nparsing: {overrides: [corrections.csv]}\n")
    rules = plan(finished)
    assert {"parse_answers", "canonicalise_answers", "measure_answers"} <= rules
    assert not rules & {"plan_all_requests", "ask_local_model", "build_contexts", "embed_corpus"}
    answers = ledger_rows(finished)
    finished.make("results/quickstart/metrics/item_shares.parquet")
    assert ledger_rows(finished) == answers
    names = duckdb.sql(
        f"SELECT DISTINCT items, correction FROM '{finished.results()}/answers/answers.parquet' "
        "WHERE correction IS NOT NULL"
    ).fetchall()
    assert names == [(["A film that nobody else names"], key)]
    (shares,) = duckdb.sql(
        f"SELECT count(*) FROM '{finished.results()}/metrics/item_shares.parquet' "
        f"WHERE answer = 'A film that nobody else names' AND item_id = '{item}'"
    ).fetchall()
    assert shares[0] >= 1


def test_deleting_all_results_asks_nothing_again(finished: Checkout) -> None:
    before = ledger_rows(finished)
    for path in (finished.root / "results/quickstart/responses").rglob("*.parquet"):
        path.unlink()
    finished.make(*answers_only("quickstart"))
    assert ledger_rows(finished) == before
