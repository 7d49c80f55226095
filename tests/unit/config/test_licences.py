"""Which texts may be handed on: by licence, by choice, and never because nobody looked."""

from typing import Any

import pytest

from fieldwork.config.licences import closed_sources_of, is_open_licence, sources_of
from fieldwork.config.study import Study
from unit.shipped_config import study

OWN = "resources/tasks/recommendations.csv"
"""Any file that is there, and holds no invented users."""
LICENCES = (
    *("MIT", "mit", "Apache-2.0", "CC-BY-4.0", "CC-BY-NC-SA-4.0", "cc by 4.0", "CC0-1.0"),
    *("ODC-BY-1.0", "ODbL-1.0", "PDDL-1.0", "BSD-3-Clause", "CDLA-Permissive-2.0"),
    *("CC-BY-ND-4.0", "CC-BY-NC-ND-4.0", "other", "LMSYS-Chat-1M agreement", "proprietary", ""),
)


def with_corpus(license_name: str | None, **archive: Any) -> Study:
    return study(corpora={"sample_short": {"path": OWN, "license": license_name}}, archive=archive)


def test_licences_that_let_texts_be_handed_on() -> None:
    assert [is_open_licence(name) for name in LICENCES] == [True] * 12 + [False] * 6


def test_what_comes_with_the_workflow_may_be_handed_on() -> None:
    sources = sources_of(study())
    assert {name: (one.is_open, *one.uses) for name, one in sources.items()} == {
        "sample_short": (True, "conversations"),
        "sample_personas": (True, "profiles"),
        "sample_sentences": (True, "profiles"),
        "recommendations": (True, "questions"),
        "sample_mmlu": (True, "questions"),
    }
    assert sources["sample_short"].setting == "corpora.sample_short"


@pytest.mark.parametrize(
    ("license_name", "archive", "is_open", "reason"),
    [
        (None, {}, False, "its licence is not known"),
        ("CC-BY-4.0", {}, True, "CC-BY-4.0 lets texts be handed on"),
        ("secret", {}, False, "secret does not let everybody hand texts on"),
        (None, {"texts": {"sample_short": True}}, True, "archive.texts.sample_short says so"),
        ("MIT", {"texts": {"sample_short": False}}, False, "archive.texts.sample_short says so"),
    ],
)
def test_texts_of_ones_own_corpus(
    license_name: str | None, archive: dict[str, Any], is_open: bool, reason: str
) -> None:
    source = sources_of(with_corpus(license_name, **archive))["sample_short"]
    assert (source.is_open, source.reason) == (is_open, reason)


@pytest.mark.parametrize("condition", ["offline", "history", "rag", "profile"])
def test_contexts_are_closed_where_one_of_their_sources_is(condition: str) -> None:
    closed = with_corpus(None)
    sources = closed_sources_of(closed, condition, sources_of(closed))
    has_conversations = condition in ("history", "rag")
    assert [source.name for source in sources] == ["sample_short"] * has_conversations


def test_the_strictest_use_of_a_dataset_decides() -> None:
    """Personas that are asked as questions too are still what users were."""
    name = study().config["profiles"]["personas"]["dataset"]
    source = {"format": "items", "dataset": name, "kind": "list"}
    both = study(
        datasets={name: {"path": OWN, "license": None}},
        tasks={"second": {"sources": [source], "runs": 5, "max_tokens": 10}},
        study={"tasks": ["recommendations_lite", "second"], "primary": []},
    )
    one = sources_of(both)[name]
    assert (one.uses, one.is_open) == (["profiles", "questions"], False)
    assert one.reason == "its licence is not known"
