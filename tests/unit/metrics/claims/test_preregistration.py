"""A record says what the study will claim, from how much, and what was there before."""

from collections.abc import Sequence
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
from fieldwork.records.power import PowerRow
from unit.metrics.findings.finding_rows import row_maker

HOME = Path(__file__).resolve().parents[4]
TIME = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
SIZES = [StudySize("recommendations", 9, 40, {"offline": 1, "history": 2, "rag": 2})]


def study_config() -> Any:
    config = read_study(HOME, [str(HOME / "config.yaml")], [], command_line={}, overlay={}).config
    return json_config(config)


def record(
    n_answers: int = 0, power: Sequence[PowerRow] = (), *, n_stored: int = 0, hashes: Any = None
) -> dict[str, Any]:
    counts = {"n_read": n_answers, "n_stored": n_stored}
    content = preregister(study_config(), SIZES, [*power], hashes or {}, TIME, **counts)
    return complete_record(content, [])


def test_a_record_has_what_the_study_will_claim_and_every_hash() -> None:
    hashes = {"questions": {"probe": "a" * 64}, "files": {"corpora.a|b": None}}
    registered = record(hashes=hashes)
    registered["form"]["Design Plan"]["Study design"] = "a|b *c* [d] <e>: context none"
    text = render(registered)
    for part in (
        "# Preregistration of the study quickstart",
        "- share_who differs (all simulated users).",
        "recommendations: 9 prompts, 40 users or reruns a condition",
        "No answer of this study existed",
        "one family, corrected after Holm at 0.05 over the study",
        f"digest {registered['digest']}",
        f"| questions | probe | {'a' * 64} |",
        # labels and names are no markup
        r"| files | corpora.a\|b | not here |",
        r"a\|b \*c\* \[d\] &lt;e>: context none",
    ):
        assert part in text


def test_power_is_that_of_the_largest_size_within_the_study() -> None:
    row = row_maker(
        PowerRow, "n_users power", task="recommendations", measure="share_who", effect="0.1",
        replicates=2, condition="history", family="primary",
    )  # fmt: skip
    rows = [
        *(row(n, power) for n, power in ((20, 0.5), (40, 0.7), (60, 0.9))),
        row(40, 0.99, replicates=5),
        row(40, None, effect="0.4"),
        row(20, 1.0, effect="0.4"),
        # a condition whose tests are corrected otherwise, and participants, whom the study has not
        row(40, 0.6, condition="rag", family="share_who"),
        row(40, 0.65, condition="rag"),
        row(40, 0.1, condition="field"),
    ]
    assert [(p["effect"], p["n_users"], p["power"]) for p in record(power=rows)["power"]] == [
        ("0.1", 40, 0.65),
        ("0.1", 40, 0.6),
        ("0.4", 20, 1.0),
    ]


def test_answers_that_were_there_are_told_even_where_results_were_deleted() -> None:
    stored = record(n_stored=1234)
    assert "when it was registered. 1,234 answers of its models" in render(stored)
    assert answers_before(stored).startswith("before any answer, with 1,234 answers of its models")
    # those of the study are among them
    assert answers_before(record(1234, n_stored=1234)) == "after 1,234 answers"
    assert "7 answers of this study existed when it was registered" in render(record(7))


def test_recorded_answers_need_no_power_and_are_no_new_ones() -> None:
    config = study_config()
    model = {"provider": "recorded", "label": "GPT", "recording": "old", "recorded_as": "gpt"}
    config["models"]["gpt"] = model
    alone = config | {"study": config["study"] | {"models": ["gpt"]}}
    n_items = {config["study"]["tasks"][0]: 3}
    content = preregister(alone, study_sizes(alone, n_items), [], {}, TIME, n_read=0, n_stored=0)
    text = render(complete_record(content, []))
    for part in (
        NO_POWER,
        "The answers of gpt had been recorded elsewhere before.",
        "3 prompts, with all answers that were recorded",
    ):
        assert part in text
    assert "No answer of this study existed" not in text
    assert answers_before(content) == "before any answer was read, those of gpt recorded elsewhere"
    # one model that is asked has power
    config["study"]["models"] = ["gpt", *config["study"]["models"]]
    sizes = study_sizes(config, n_items)
    content = preregister(config, sizes, [], {}, TIME, n_read=5, n_stored=5)
    assert content["power_reason"] is None
    assert answers_before(content) == "after 5 answers, those of gpt recorded elsewhere"


def test_a_study_asks_each_task_as_often_as_the_config_says() -> None:
    config = json_config(study_config() | {"day": date(2026, 3, 2)})
    assert config["day"] == "2026-03-02"
    names = config["study"]["tasks"]
    sizes = study_sizes(config, dict.fromkeys(names, 7))
    assert [(size.task, size.n_items) for size in sizes] == [(name, 7) for name in names]
    assert [size.n_runs for size in sizes] == [config["tasks"][name]["runs"] for name in names]
    assert all([*size.replicates] == config["study"]["conditions"] for size in sizes)
