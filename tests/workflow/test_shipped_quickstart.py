"""The quickstart as it is shipped: a chat model answers. With three users and three of its questions."""

import re

import pytest

from workflow.conftest import Checkout, copy_shipped, from_yaml, rows_of
from workflow.page_claims import require_agreement

pytestmark = pytest.mark.workflow

THREE = from_yaml("""
study: {conditions: [offline, history, rag]}
conditions: {rag: {replicates: 1}}
tasks:
  recommendations_lite:
    runs: 3
    sources: [{format: items, kind: list, dataset: recommendations, item_ids: [companies],
      candidates: resources/tasks/candidates.csv}]
  choices_lite:
    runs: 3
    sources: [{format: mmlu, dataset: sample_mmlu, item_ids: [sample_astronomy-000, sample_cooking-000]}]
metrics: {permutations: 99}
""")
FORM = "SmolLM2 135M: lists name given candidates only, choices are drawn by their likelihood"


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, tuple[str, ...]]:
    made = copy_shipped(tmp_path_factory.mktemp("shipped") / "project")
    arguments = ("all", "--configfile", str(made.study("quickstart", THREE)))
    made.make(*arguments, cores=1)
    return made, arguments


Shipped = tuple[Checkout, tuple[str, ...]]


def test_every_answer_is_read_and_names_candidates(shipped: Shipped) -> None:
    made, _ = shipped
    ((n, n_unread, n_lists, n_whole),) = rows_of(
        made,
        """SELECT count(*), count(reason), count(*) FILTER (task = 'recommendations_lite'),
        count(*) FILTER (len(list_distinct(items)) = 5)
        FROM 'RESULTS/quickstart/answers/answers.parquet'""",
    )
    # offline and rag once, and history twice
    assert (n, n_unread) == ((1 + 1 + 2) * 3 * (1 + 2), 0)
    assert n_whole == n_lists == (1 + 1 + 2) * 3
    strangers = rows_of(
        made,
        """SELECT DISTINCT item FROM (SELECT item_id, unnest(items) AS item
        FROM 'RESULTS/quickstart/answers/answers.parquet' WHERE task = 'recommendations_lite') a
        WHERE NOT EXISTS (FROM read_csv('RESULTS/../resources/tasks/candidates.csv') c
        WHERE c.item_id = a.item_id AND lower(c.candidate) = lower(a.item))""",
    )
    assert strangers == []


def test_users_change_what_the_model_would_say(shipped: Shipped) -> None:
    """Not their draws, which chance alone changes, but the probabilities behind them."""
    made, _ = shipped
    counts = rows_of(
        made,
        """SELECT condition, count(DISTINCT option_probabilities::VARCHAR)
        FROM 'RESULTS/quickstart/answers/answers.parquet' WHERE item_id = 'companies'
        GROUP BY 1 ORDER BY 1""",
    )
    assert dict(counts) == {"offline": 1, "history": 3, "rag": dict(counts)["rag"]}
    assert dict(counts)["rag"] > 1


def test_figures_and_findings_say_how_answers_were_held_and_what_they_stand_for(
    shipped: Shipped,
) -> None:
    results = shipped[0].results()
    for figure in ("fig1", "fig2", "fig3", "fig4", "fig5", "who_asks"):
        assert FORM in (results / f"figures/{figure}.svg").read_text(), figure
    findings = (results / "findings.md").read_text()
    limits = findings.partition("## What this cannot say")[2].partition("\n## ")[0]
    assert f"- {FORM}." in limits
    assert "says nothing about larger models" in limits
    assert "not a chat model" not in findings
    assert not re.search(r"\bnan\b", findings)
    require_agreement(shipped[0], "quickstart", ("history", "rag", "profile"), ("offline_again",))


def test_a_second_run_does_nothing(shipped: Shipped) -> None:
    made, arguments = shipped
    assert "Nothing to be done" in made.snakemake(*arguments).stderr
