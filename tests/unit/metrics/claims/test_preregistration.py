"""A record says what the study will claim, from how much, and what was there before."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from fieldwork.config.reading import read_study
from fieldwork.metrics.claims.preregistration import (
    NO_POWER,
    StudySize,
    answers_before,
    json_config,
    preregister,
    render,
    study_sizes,
)
from fieldwork.metrics.claims.registration_records import complete_record
from unit.metrics.findings.finding_rows import filled

from fieldwork.records.power import PowerRow  # isort: skip

HOME = Path(__file__).resolve().parents[4]
TIME = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
HASHES = {
    "questions": {"recommendations": "a" * 64},
    "files": {"corpora.mine": None},
    "code": {"parsing": "c" * 64},
}
SIZES = [StudySize("recommendations", 9, 40, {"offline": 1, "history": 2, "rag": 2})]


def study_config() -> Any:
    config = read_study(HOME, [str(HOME / "config.yaml")], [], command_line={}, overlay={}).config
    return json_config(config)


def power_row(**values: Any) -> PowerRow:
    names = {"task": "recommendations", "measure": "share_who", "effect": "0.1", "replicates": 2,
             "condition": "history", "family": "primary"}  # fmt: skip
    row: PowerRow = filled(PowerRow, **{**names, **values})
    return row


def record(
    n_answers: int = 0,
    power: list[PowerRow] | None = None,
    *,
    n_stored: int = 0,
    hashes: Any = None,
) -> dict[str, Any]:
    content = preregister(
        study_config(), SIZES, power or [], hashes or {}, TIME, n_read=n_answers, n_stored=n_stored
    )
    return complete_record(content, [])


def test_a_record_has_what_the_study_will_claim() -> None:
    text = render(record())
    for part in (
        "# Preregistration of the study quickstart",
        "- share_who differs (all simulated users).",
        "recommendations: 9 prompts, 40 users or reruns a condition",
        "No answer of this study existed",
        "one family, corrected after Holm at 0.05 over the study",
        "min_user_turns 5",
    ):
        assert part in text


def test_power_is_that_of_the_largest_size_within_the_study() -> None:
    rows = [
        power_row(n_users=20, power=0.5),
        power_row(n_users=40, power=0.7),
        power_row(n_users=60, power=0.9),
        power_row(n_users=40, power=0.99, replicates=5),
        power_row(n_users=40, power=None, effect="0.4"),
        power_row(n_users=20, power=1.0, effect="0.4"),
        # a condition whose tests are corrected otherwise, and participants, whom the study has not
        power_row(n_users=40, power=0.6, condition="rag", family="share_who"),
        power_row(n_users=40, power=0.65, condition="rag"),
        power_row(n_users=40, power=0.1, condition="field"),
    ]
    assert [(p["effect"], p["n_users"], p["power"]) for p in record(power=rows)["power"]] == [
        ("0.1", 40, 0.65),
        ("0.1", 40, 0.6),
        ("0.4", 20, 1.0),
    ]


def test_the_page_shows_labels_and_names_as_they_are() -> None:
    changed = record(hashes={"files": {"corpora.a|b": None}})
    changed["form"]["Design Plan"]["Study design"] = "a|b *c* [d] <e>: context none"
    text = render(changed)
    assert r"a\|b \*c\* \[d\] &lt;e>: context none" in text
    assert r"| files | corpora.a\|b | not here |" in text


def test_a_page_has_the_digest_and_every_hash() -> None:
    text = render(record(hashes=HASHES))
    assert f"digest {record(hashes=HASHES)['digest']}" in text
    for row in (
        f"| questions | recommendations | {'a' * 64} |",
        "| files | corpora.mine | not here |",
        f"| code | parsing | {'c' * 64} |",
    ):
        assert row in text


def test_stored_answers_are_told_even_where_results_were_deleted() -> None:
    text = render(record(n_stored=1234))
    assert (
        "No answer of this study existed when it was registered. 1,234 answers of its models"
        in text
    )
    assert answers_before(record(n_stored=1234)) == (
        "before any answer, with 1,234 answers of its models stored, to this study or others"
    )
    # those of the study are among them
    assert answers_before(record(1234, n_stored=1234)) == "after 1,234 answers"


def recorded_config() -> Any:
    model = {"provider": "recorded", "label": "GPT", "recording": "old", "recorded_as": "gpt"}
    config = study_config()
    return config | {
        "models": {"gpt": model},
        "study": config["study"] | {"models": ["gpt"]},
    }


def test_recorded_answers_need_no_power_and_are_no_new_ones() -> None:
    config = recorded_config()
    sizes = study_sizes(config, {config["study"]["tasks"][0]: 3})
    content = preregister(config, sizes, [], {}, TIME, n_read=0, n_stored=0)
    text = render(complete_record(content, []))
    for part in (
        NO_POWER,
        "The answers of gpt had been recorded elsewhere before.",
        "3 prompts, with all answers that were recorded",
        "No question is asked",
    ):
        assert part in text
    assert "No answer of this study existed" not in text
    assert answers_before(content) == "before any answer was read, those of gpt recorded elsewhere"


def test_a_study_asks_each_task_as_often_as_the_config_says() -> None:
    config = json_config(study_config() | {"day": date(2026, 3, 2)})
    assert config["day"] == "2026-03-02"
    names = config["study"]["tasks"]
    sizes = study_sizes(config, dict.fromkeys(names, 7))
    assert [(size.task, size.n_items) for size in sizes] == [(name, 7) for name in names]
    assert [size.n_runs for size in sizes] == [config["tasks"][name]["runs"] for name in names]
    assert all([*size.replicates] == config["study"]["conditions"] for size in sizes)
