"""`snakemake power`: a study's size, without a key, without a network, and never asking anything."""

import csv
from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork.generation.inventory import Inventory
from fieldwork.metrics.claims.registration_records import missing_records, read_records
from fieldwork.provenance import file_digest
from workflow.conftest import FEW_SIMULATIONS, Checkout, digests, from_yaml
from workflow.test_plan import NO_NETWORK

pytestmark = pytest.mark.workflow

# without `rag`, which would have the corpus embedded
FEW = from_yaml(
    """
    study: {conditions: [offline_t0, offline, history, profile]}
    power: $power
    tasks: {mmlu_lite: {sources: [{format: mmlu, dataset: sample_mmlu,
      item_ids: [sample_astronomy-000, sample_cooking-000]}]}}
    """,
    power={**FEW_SIMULATIONS, "sizes": [5, 20]},
)
FILES = ("results/few/power/*", "results/few/figures/power.*")


def rows_of(checkout: Checkout, study: str) -> list[dict[str, str]]:
    path = checkout.results(study) / "power/power.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_the_quickstart_has_its_power_simulated(checkout: Checkout) -> None:
    assert not {"plan_power", "plot_power"} & checkout.plan("all")
    few = ("--configfile", str(checkout.study("few", FEW)))
    # the field kit takes its sample size from here
    done = checkout.make("power", "field_kit", *few, env=NO_NETWORK)
    assert "consent.md: replace what is marked REPLACE" in done.stderr
    kit = checkout.results("few") / "field_kit"
    assert "| with 5 | with 20 |" in (kit / "sample_size.md").read_text(encoding="utf-8")
    told = yaml.safe_load((kit / "field_page.yaml").read_text(encoding="utf-8"))["field"]
    assert len(told["prompts"]) == 9 + 4
    assert told["models"] == {"embedded": "embedded"}
    written = digests(checkout.directory, *FILES)
    assert {Path(name).name for name in written} == {
        *("power.parquet", "power.csv", "advice.csv", "power.md"),
        *("power.pdf", "power.svg", "power.png"),
    }
    assert not (checkout.results("few") / "responses").exists()
    assert not (checkout.root / "resources/ledger").exists()
    rows = rows_of(checkout, "few")
    assert {row["n_users"] for row in rows} == {"5", "20"}
    assert {(row["task"], row["n_items"]) for row in rows} == {
        *(("recommendations", "9"), ("probe", "4"), ("mmlu_lite", "2"))
    }
    assert {row["condition"] for row in rows} == {"history", "profile", "field"}
    assert {row["basis"] for row in rows} == {"tables", "participants"}
    # what the study is about is one family; real users are not, unless they are named
    assert {(row["measure"], row["family"]) for row in rows if row["condition"] == "history"} == {
        *((measure, "primary") for measure in ("share_who", "entropy_bits", "score")),
        *((measure, measure) for measure in ("option_share", "distance", "letter_entropy")),
    }
    assert {row["family"] for row in rows if row["condition"] == "field"} == {
        f"real_users_{row['measure']}" for row in rows
    }
    for row in rows:
        assert row["reason"] or row["power"]
    told = (checkout.results("few") / "power/power.md").read_text(encoding="utf-8")
    assert "20 simulated studies" in told
    check_preregistration(checkout, few)


def check_preregistration(checkout: Checkout, study: tuple[str, ...]) -> None:
    """A record is written once for a study; another config gets another, which names the first."""
    folder = checkout.root / "resources/preregistration/few"
    checkout.make("preregister", *study)
    (record,) = folder.glob("*.json")
    page = record.with_suffix(".md").read_text(encoding="utf-8")
    assert "No answer of this study existed when it was registered." in page
    assert "| probe | share_who | 0.2 | primary | 2 | 20 |" in page
    (first,) = read_records([record])
    assert first["digest"] in page
    hashes = first["hashes"]
    assert hashes["questions"].keys() == {"recommendations", "probe", "mmlu_lite"}
    aliases = checkout.root / "resources/tasks/aliases.csv"
    assert hashes["files"]["parsing.aliases"] == file_digest(aliases)
    assert {"corpora.sample", "datasets.sample_personas", "profiles.template"} <= {*hashes["files"]}
    assert {"parsing", "metrics"} <= {*hashes["code"]}
    again = checkout.snakemake("preregister", *study)
    assert "this study was preregistered" in again.stderr
    (config,) = study[1:]
    overlay = yaml.safe_load(Path(config).read_text(encoding="utf-8"))
    checkout.study("few", overlay | {"calibration": {"repeats": 2}})
    # answers whose results were deleted
    (checkout.root / "resources/ledger").mkdir()
    Inventory(checkout.root / "resources/ledger/embedded.sqlite").write(7)
    checkout.make("preregister", *study)
    records = read_records(folder.glob("*.json"))
    assert [one["digest"] for one in records[:-1]] == [first["digest"]]
    assert [one["answers_stored"] for one in records] == [0, 7]
    record.unlink()
    assert [name.digest for name in missing_records(records[1:])] == [first["digest"]]


def test_a_study_on_real_data_is_priced_as_its_plan(checkout: Checkout) -> None:
    overlay: dict[str, Any] = {
        "study": {"models": ["gpt-4o-mini"]},
        "field": {"models": {"Gemini": None}},
        "power": {**FEW_SIMULATIONS, "sizes": [10, 100], "field_cost_usd": 4.0, "replicates": [2]},
    }
    study = ("--configfile", "studies/paper.yaml", str(checkout.study("power", overlay)))
    checkout.make("power", "plan", *study, env=NO_NETWORK)
    assert not (checkout.root / "resources/downloads").exists()
    plan = (checkout.root / "results/power/plan.csv").read_text(encoding="utf-8")
    planned = {
        (row["model"], row["task"], row["condition"]): row
        for row in csv.DictReader(plan.splitlines())
        if row["is_chosen"] == "True"
    }
    runs = {"recommendations": "100", "probe": "100", "mmlu_lite": "10"}
    same = set[str]()
    for row in rows_of(checkout, "power"):
        if row["condition"] == "field":
            assert float(row["cost_usd"]) == 4.0 * int(row["n_users"])
            continue
        own = planned[row["model"], row["task"], row["condition"]]
        blank = planned[row["model"], row["task"], "offline"]
        # `share_who` asks a puppet twice, others once: one of them asks as the study does
        if row["n_users"] == runs[row["task"]] and row["n_calls"] == own["n_requests"]:
            same.add(row["task"])
            assert row["cost_usd"] == own["cost_expected_usd"]
        if row["n_users"] == runs[row["task"]] and row["measure"] != "share_who":
            assert row["n_calls_baseline"] == blank["n_requests"]
            assert row["cost_baseline_usd"] == blank["cost_expected_usd"]
    assert same == set(runs)
