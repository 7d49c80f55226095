"""What a study's rules read off its config: files, tables, figures, and what is left behind."""

from pathlib import Path

import pytest

from fieldwork.arguments import typed_value
from fieldwork.conditions import WHO_ASKS
from fieldwork.config.drawn import figure_drawing
from fieldwork.config.encoding import encoder_choice, precision_record
from fieldwork.config.estimates import study_views
from fieldwork.config.outline import outline_settings, question_of
from fieldwork.config.plan_inputs import plan_settings, plan_tables, power_settings, small_sources
from fieldwork.config.report import report_entry
from fieldwork.config.settings import arms_of
from fieldwork.config.study import Study
from fieldwork.figures.settings import FigureSettings
from fieldwork.generation.planning.tables import PlanInputs
from fieldwork.generation.rows import GenerationArm
from fieldwork.measures import question_names
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.power.study import PlannedStudy
from unit.shipped_config import study

FORM = "SmolLM2 135M: lists name given candidates only, choices are drawn by their likelihood"


def names_of(paths: list[str]) -> set[str]:
    return {Path(path).stem for path in paths}


def test_context_inputs_are_what_the_kind_of_condition_needs() -> None:
    def gather(path: str) -> list[str]:
        return [path]

    quickstart = study()
    corpus = "<results>/corpus/sample_short/conversations.parquet"
    assert quickstart.context_inputs("history", gather) == {"conversations": corpus}
    assert quickstart.context_inputs("profile", gather) == {
        "profiles": "<results>/personas/profiles.parquet"
    }
    assert quickstart.context_inputs("rag", gather) == {
        "conversations": corpus,
        "vectors": ["<results>/embeddings/sample_short/shards/{scatteritem}.parquet"],
        "questions": "<results>/tasks/{task}.parquet",
    }
    assert quickstart.context_inputs("offline", gather) == {}


def test_metric_tables_are_those_that_the_study_has() -> None:
    quickstart = study()
    names = names_of(quickstart.metric_tables())
    assert {"variance", "ranks", *question_names()} <= names
    assert not names & {"arms", "arm_tests", "groups", "calibration", "field"}
    views = {"heterogeneity", "prompt_means", "accuracy", "score_comparisons", "answer_form"}
    assert {*study_views(quickstart)} == views
    arms = study("studies/history_length.yaml")
    assert names_of(arms.metric_tables()) - names == {"arms", "arm_tests"}
    # its figure is named by the study
    assert arms.figures()[-1] == "history_length"
    assert arms.arms()[:2] == [("offline", 0), ("history_1", 1)]
    assert len(arms.context_tables(arms_of(arms.config))) == 4 * 2


def test_a_study_with_variants_of_a_task_has_their_tables_and_figure() -> None:
    noisy = {"noisy": {"of": "probe", "put": {"casual": True}}}
    plain, derived, alone = (
        study(study={"tasks": selection}, tasks=noisy)
        for selection in (["probe"], ["probe", "noisy"], ["noisy"])
    )
    assert (plain.variants(), derived.variants()) == ({}, {"noisy": "probe"})
    tables = {"robustness", "group_gaps", "practice", "practice_turns", "practice_drops"}
    assert names_of(derived.metric_tables()) - names_of(plain.metric_tables()) == tables
    assert "robustness" in derived.figures()
    # without the clean task there is nothing to set beside
    assert "robustness" not in alone.figures()


@pytest.mark.parametrize("figure", [None, "fig1", "fig2", "fig3", "fig4", "fig5", "who_asks"])
def test_a_figure_takes_what_the_study_says_of_it(figure: str | None) -> None:
    own = study(
        study={"conditions": ["offline_t0", "offline", "rag"]},
        models={"smollm2": {"note": "A small model"}},
    )
    drawing = FigureSettings(**figure_drawing(own, figure))
    assert drawing.baseline == "offline"
    assert drawing.task == (own.figure_task(figure) if figure in own.config["figures"] else None)
    assert drawing.condition_labels["rag"] == "SP-RAG"
    assert drawing.model_labels == {"smollm2": "SmolLM2 135M"}
    assert drawing.note == f"A small model. {FORM}"
    # figure 4 sets users beside the baseline, and offline_t0 is neither
    left_out = {"offline_t0"} if figure == "fig4" else set()
    assert set(drawing.conditions) == {"offline_t0", "offline", "rag"} - left_out


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


def _design(planned: Study) -> PlannedStudy:
    design: PlannedStudy = typed_value(power_settings(planned), PlannedStudy)
    return design


def test_power_compares_conditions_with_the_baseline_also_where_it_is_not_selected() -> None:
    tasks = ["recommendations", "probe", "mmlu_lite"]
    own = study(study={"conditions": ["history"], "tasks": tasks})
    design = _design(own)
    assert design.conditions == {"history": "SP-History"}
    assert (design.baseline, design.n_comparisons) == ("offline", 1)
    assert design.score_task == "mmlu_lite"
    # conditions without a user are compared too
    assert _design(study()).n_comparisons == 5
    assert design.runs == {"recommendations": 40, "probe": 40, "mmlu_lite": 10}
    assert design.rules.users == ["history"]
    assert (design.asked_again, design.nests) == (["history"], {})
    asked_once = study(conditions={"history": {"replicates": 1}}, field_kit={"repeats": 2})
    assert _design(asked_once).asked_again == ["rag", "profile", "field"]


def test_contexts_are_those_of_conditions_with_a_user() -> None:
    quickstart = study(study={"tasks": ["probe"]})
    assert names_of(quickstart.context_tables()) == {"history", "rag", "profile"}
    assert quickstart.contexts("offline") == []
    assert quickstart.contexts("rag") == ["<results>/contexts/{task}/{condition}.parquet"]


def test_a_table_is_in_the_report_under_the_heading_of_its_stage() -> None:
    headings = [report_entry(name).category for name in ("variance", "group_differences")]
    assert headings == ["Metrics", "Field"]
    with pytest.raises(KeyError):
        report_entry("no_such_table")


def test_gpus_and_precision_are_asked_for_by_jobs_that_encode() -> None:
    on_gpu = study(embedding={"device": "cuda", "precision": "auto"})
    assert (on_gpu.gpus(), on_gpu.gpus("rag"), on_gpu.gpus("history")) == (1, 1, 0)
    assert study().gpus() == 0
    assert encoder_choice(on_gpu) == encoder_choice(on_gpu, "rag") == ["<results>/encoder.csv"]
    assert encoder_choice(on_gpu, "history") == encoder_choice(study()) == []


def test_an_archive_takes_the_kept_precision_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    is_open = study(embedding={"precision": "auto"})
    assert precision_record(is_open) == []
    record = Path("resources/precision/quickstart.json")
    record.parent.mkdir(parents=True)
    record.touch()
    assert precision_record(is_open) == [str(record)]
    assert precision_record(study()) == []


def test_a_plan_counts_what_the_study_selects_from_tables_that_are_here() -> None:
    own = study(study={"conditions": ["rag"], "tasks": ["probe"]})
    planned = PlanInputs(**plan_settings(own), files=())
    selection = [*planned.tasks, *planned.conditions, *planned.models]
    assert selection == ["probe", "rag", "smollm2"]
    assert planned.table("tasks", "probe") == "results/quickstart/tasks/probe.parquet"
    assert planned.price("smollm2") is None
    here = {"<results>/tasks/probe.parquet", "<results>/contexts/probe/rag.parquet"}
    assert here <= {*plan_tables(own)}
    assert plan_tables(study(plan={"tables": "assume"})) == []


def test_an_arm_is_asked_as_its_condition_and_task_say() -> None:
    arm = GenerationArm(**study().generation_arm("smollm2", "probe", "offline_t0"))
    assert (arm.model, arm.task, arm.condition) == ("smollm2", "probe", "offline_t0")
    assert (arm.temperature, arm.max_tokens, arm.seed) == (0, 5, 2509)


# ---- what findings and the page know of a study --------------------------------------------------


def test_a_study_asks_its_own_question_or_who_asks() -> None:
    own = study(study={"question": "Do cats matter?"})
    again = study(study={"conditions": ["offline", "offline_again"]})
    questions = [question_of(one) for one in (study(), own, again)]
    assert questions == [WHO_ASKS, "Do cats matter?", None]
    assert StudyOutline(**outline_settings(study())).question == WHO_ASKS


def test_findings_know_how_questions_are_asked_in_words() -> None:
    settings = outline_settings(study())
    phrases = settings["phrases"]
    assert [phrases[name] for name in ("offline", "offline_again", "rag")] == [
        "without a user",
        "repeated without a user",
        "after the conversation most like the question",
    ]
    assert [*phrases] == [*settings["conditions"]]


def test_findings_know_the_limits_of_models_that_have_them() -> None:
    own = study(
        study={"models": ["local", "smollm2"], "tasks": ["mmlu_lite"]},
        models={"smollm2": {"limits": "Knows little. Says nothing about larger models"}},
    )
    settings = outline_settings(own)
    limits = "SmolLM2 135M: Knows little. Says nothing about larger models"
    assert settings["model_limits"] == [limits]
    # they are no notes, which figures print
    assert settings["notes"] == [FORM, own.config["tasks"]["mmlu_lite"]["leaderboard_note"]]
    assert outline_settings(study(study={"models": ["local"]}))["model_limits"] == []
