"""What a study's rules read off its config: files, tables, figures, and what is left behind."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork.config.drawn import figure_drawing
from fieldwork.config.encoding import encoder_choice, precision_record
from fieldwork.config.estimates import study_views
from fieldwork.config.plan_inputs import (
    plan_settings,
    plan_tables,
    power_settings,
    small_sources,
)
from fieldwork.config.report import report_entry
from fieldwork.config.settings import check_config
from fieldwork.config.study import Study
from fieldwork.figures.settings import FigureSettings
from fieldwork.generation.planning.tables import PlanInputs
from fieldwork.generation.rows import GenerationArm
from fieldwork.measures import question_names
from fieldwork.metrics.power.study import PlannedStudy
from unit.shipped_config import shipped_config

HOME = Path(__file__).resolve().parents[3]


def study(*files: str, **changes: dict[str, Any]) -> Study:
    """The quickstart, or it with a shipped study laid over, or with changed settings."""
    config: dict[str, Any] = shipped_config()
    for layer in [yaml.safe_load((HOME / file).read_text("utf-8")) for file in files] + [changes]:
        for section, entries in layer.items():
            if isinstance(config.get(section), dict) and isinstance(entries, dict):
                for name, entry in entries.items():
                    old = config[section].get(name)
                    both = isinstance(old, dict) and isinstance(entry, dict)
                    config[section][name] = {**old, **entry} if both else entry
            else:
                config[section] = entries
    check_config(config, "config.yaml")
    return Study(config, HOME)


def test_context_inputs_are_what_the_kind_of_condition_needs() -> None:
    def gather(path: str) -> list[str]:
        return [path.format(scatteritem=f"{shard}-of-2") for shard in (1, 2)]

    quickstart = study()
    corpus = "<results>/corpus/sample_short/conversations.parquet"
    assert quickstart.context_inputs("history", gather) == {"conversations": corpus}
    assert quickstart.context_inputs("profile", gather) == {
        "profiles": "<results>/personas/profiles.parquet"
    }
    assert quickstart.context_inputs("rag", gather) == {
        "conversations": corpus,
        "vectors": gather("<results>/embeddings/sample_short/shards/{scatteritem}.parquet"),
        "questions": "<results>/tasks/{task}.parquet",
    }
    assert quickstart.context_inputs("offline", gather) == {}


def test_metric_tables_are_those_that_the_study_has() -> None:
    quickstart = study()
    names = {Path(path).stem for path in quickstart.metric_tables()}
    assert {"variance", "ranks", *question_names()} <= names
    assert not names & {"arms", "arm_tests", "groups", "calibration", "field"}
    views = {"heterogeneity", "prompt_means", "accuracy", "score_comparisons", "answer_form"}
    assert {*study_views(quickstart)} == views
    with_arms = study("studies/history_length.yaml")
    assert {"arms", "arm_tests"} == {Path(p).stem for p in with_arms.metric_tables()} - names


def test_a_study_with_variants_of_a_task_has_their_tables_and_figure() -> None:
    plain = study(study={"tasks": ["probe"]})
    assert plain.variants() == {}
    noisy = {"of": "probe", "put": {"casual": True}}
    derived = study(study={"tasks": ["probe", "noisy"]}, tasks={"noisy": noisy})
    assert derived.variants() == {"noisy": "probe"}
    names = {Path(path).stem for path in derived.metric_tables()}
    assert names - {Path(path).stem for path in plain.metric_tables()} == {
        "robustness",
        "group_gaps",
        "practice",
        "practice_turns",
        "practice_drops",
    }
    assert "robustness" in derived.figures()
    # without the clean task there is nothing to set beside
    alone = study(study={"tasks": ["noisy"]}, tasks={"noisy": noisy})
    assert "robustness" not in alone.figures()


@pytest.mark.parametrize("figure", [None, "fig1", "fig2", "fig3", "fig4", "fig5", "who_asks"])
def test_a_figure_takes_what_the_study_says_of_it(figure: str | None) -> None:
    own = study(
        study={"conditions": ["offline_t0", "offline", "rag"]},
        models={"smollm2": {"note": "A small model"}},
    )
    figure_settings = FigureSettings(**figure_drawing(own, figure))
    assert (figure_settings.baseline, figure_settings.task) == (
        "offline",
        own.figure_task(figure) if figure in own.config["figures"] else None,
    )
    assert figure_settings.condition_labels["rag"] == "SP-RAG"
    assert figure_settings.model_labels == {"smollm2": "SmolLM2 135M"}
    form = "SmolLM2 135M: lists name given candidates only, choices are drawn by their likelihood"
    assert figure_settings.note == f"A small model. {form}"
    # figure 4 sets users beside the baseline, and offline_t0 is neither
    left_out = {"offline_t0"} if figure == "fig4" else set()
    assert set(figure_settings.conditions) == {"offline_t0", "offline", "rag"} - left_out


def test_outputs_are_files_of_the_study_and_a_bill_where_calls_are_paid() -> None:
    free = study().outputs()
    assert all(path.startswith("<results>/") for path in free)
    assert "<results>/figures/fig3.pdf" in free
    assert "<results>/cost.csv" not in free
    assert "<results>/cost.csv" in study(study={"models": ["gpt-6-luna"]}).outputs()


def test_small_sources_are_counted_with_their_reading_and_filters() -> None:
    sources = small_sources(study())
    assert set(sources["corpora"]) == {"sample_short"}
    assert set(sources["personas"]) == {"sample_personas"}
    counted = sources["corpora"]["sample_short"]
    assert counted["reading"]["format"] == "wildchat"
    # its own filters over those of the study
    filters = counted["filters"]
    assert (filters["min_user_turns"], filters["max_tokens"]) == (2, 250)
    assert filters["languages"] == ["English"]
    # of format `items` alone: others have columns of their own
    assert [*sources["questions"]] == ["recommendations_lite"]


def test_power_compares_conditions_with_the_baseline_also_where_it_is_not_selected() -> None:
    tasks = ["recommendations", "probe", "mmlu_lite"]
    own = study(study={"conditions": ["history"], "tasks": tasks})
    design = PlannedStudy(**power_settings(own))
    assert design.conditions == {"history": "SP-History"}
    assert (design.baseline, design.n_comparisons) == ("offline", 1)
    assert design.score_task == "mmlu_lite"
    # conditions without a user are compared too
    assert PlannedStudy(**power_settings(study())).n_comparisons == 5
    assert design.runs == {"recommendations": 40, "probe": 40, "mmlu_lite": 10}
    assert design.rules["users"] == ["history"]
    assert (design.asked_again, design.nests) == (["history"], {})
    asked_once = study(conditions={"history": {"replicates": 1}}, field_kit={"repeats": 2})
    assert PlannedStudy(**power_settings(asked_once)).asked_again == ["rag", "profile", "field"]


def test_contexts_are_those_of_conditions_with_a_user() -> None:
    quickstart = study(study={"tasks": ["probe"]})
    names = [Path(path).stem for path in quickstart.context_tables()]
    assert names == ["history", "rag", "profile"]
    assert quickstart.contexts("offline") == []
    assert quickstart.contexts("rag") == ["<results>/contexts/{task}/{condition}.parquet"]


def test_a_table_is_in_the_report_under_the_heading_of_its_stage() -> None:
    assert report_entry("variance").category == "Metrics"
    assert report_entry("group_differences").category == "Field"
    with pytest.raises(KeyError):
        report_entry("no_such_table")


def test_the_figure_of_arms_is_named_by_the_study() -> None:
    arms = study("studies/history_length.yaml")
    assert arms.figures()[-1] == "history_length"
    assert arms.arms()[:2] == [("offline", 0), ("history_1", 1)]
    assert len(arms.arm_contexts()) == 4 * 2


def test_gpus_are_asked_for_by_jobs_that_encode() -> None:
    on_gpu = study(embedding={"device": "cuda"})
    assert (on_gpu.gpus(), on_gpu.gpus("rag"), on_gpu.gpus("history")) == (1, 1, 0)
    assert study().gpus() == 0


def test_the_precision_is_looked_up_where_the_config_leaves_it_open() -> None:
    is_open, is_set = study(embedding={"precision": "auto"}), study()
    assert encoder_choice(is_open) == encoder_choice(is_open, "rag") == ["<results>/encoder.csv"]
    assert encoder_choice(is_open, "history") == encoder_choice(is_set) == []


def test_an_archive_takes_the_kept_precision_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert precision_record(study(embedding={"precision": "auto"})) == []
    record = tmp_path / "resources/precision/quickstart.json"
    record.parent.mkdir(parents=True)
    record.touch()
    kept = precision_record(study(embedding={"precision": "auto"}))
    assert kept == ["resources/precision/quickstart.json"]
    assert precision_record(study()) == []


def test_a_plan_counts_from_tables_only_what_is_here() -> None:
    here = plan_tables(study(study={"tasks": ["probe"]}))
    assert "<results>/tasks/probe.parquet" in here
    assert "<results>/contexts/probe/rag.parquet" in here
    assert plan_tables(study(plan={"tables": "assume"})) == []


def test_an_arm_is_asked_as_its_condition_and_task_say() -> None:
    arm = GenerationArm(**study().generation_arm("smollm2", "probe", "offline_t0"))
    assert (arm.model, arm.task, arm.condition) == ("smollm2", "probe", "offline_t0")
    assert (arm.temperature, arm.max_tokens, arm.seed) == (0, 5, 2509)


def test_a_plan_counts_what_the_study_selects() -> None:
    own = study(study={"conditions": ["history"], "tasks": ["probe"]})
    planned = PlanInputs(**plan_settings(own), files=())
    assert [*planned.tasks, *planned.conditions, *planned.models] == [
        "probe",
        "history",
        "smollm2",
    ]
    assert planned.table("tasks", "probe") == "results/quickstart/tasks/probe.parquet"
    assert planned.price("smollm2") is None
