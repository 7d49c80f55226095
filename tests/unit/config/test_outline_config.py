"""What findings and page know of a study: its question, its users, and what its models cannot show."""

from fieldwork.conditions import WHO_ASKS
from fieldwork.config.outline import outline_settings, question_of
from fieldwork.metrics.findings.outline import StudyOutline
from unit.config.test_study import study


def test_a_study_asks_its_own_question_or_who_asks() -> None:
    assert question_of(study()) == WHO_ASKS
    assert question_of(study(study={"question": "Do cats matter?"})) == "Do cats matter?"
    assert question_of(study(study={"conditions": ["offline", "offline_again"]})) is None
    assert StudyOutline(**outline_settings(study())).question == WHO_ASKS


def test_findings_know_how_questions_are_asked_in_words() -> None:
    phrases = outline_settings(study())["phrases"]
    assert phrases["offline"] == "without a user"
    assert phrases["offline_again"] == "repeated without a user"
    assert phrases["rag"] == "after the conversation most like the question"
    assert [*phrases] == [*outline_settings(study())["conditions"]]


def test_findings_know_the_limits_of_models_that_have_them() -> None:
    limited = {"limits": "Knows little. Says nothing about larger models"}
    own = study(
        study={"models": ["local", "smollm2"], "tasks": ["mmlu_lite"]}, models={"smollm2": limited}
    )
    limits = "SmolLM2 135M: Knows little. Says nothing about larger models"
    assert outline_settings(own)["model_limits"] == [limits]
    # they are no notes, which figures print
    form = "SmolLM2 135M: lists name given candidates only, choices are drawn by their likelihood"
    leaderboard_note = own.config["tasks"]["mmlu_lite"]["leaderboard_note"]
    assert outline_settings(own)["notes"] == [form, leaderboard_note]
    assert outline_settings(study(study={"models": ["local"]}))["model_limits"] == []
