"""Profiles are drawn by seed, without repeats, and stay when more are asked for."""

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldwork.errors import StudyError
from fieldwork.puppets.personas import build_profiles
from fieldwork.records.puppets import Profile

PERSONAS = [f"Persona {i}" for i in range(300)]
SENTENCES = [f"I like number {i}." for i in range(50)]
TEMPLATE = "You talk with: $persona\nThey say: $sentences\n"


def draw(n_profiles: int = 5, **changes: Any) -> list[Profile]:
    sources = (changes.pop("personas", PERSONAS), changes.pop("sentences", SENTENCES))
    settings = {"sentences_per_profile": 4, "template": TEMPLATE, "seed": 1} | changes
    return build_profiles(*sources, n_profiles=n_profiles, **settings)


@given(seed=st.integers(0, 1_000), per_profile=st.integers(0, 50))
def test_nothing_repeats(seed: int, per_profile: int) -> None:
    profiles = draw(20, sentences_per_profile=per_profile, seed=seed)
    assert len({p.persona for p in profiles}) == 20
    for profile in profiles:
        assert len(set(profile.sentences)) == len(profile.sentences) == per_profile
    assert [p.puppet_id for p in profiles] == [f"profile-{i:06d}" for i in range(20)]


@pytest.mark.parametrize("n", [1, 6, 22, 299])
@pytest.mark.parametrize("seed", [1, 2509])
def test_more_profiles_leave_the_first_as_they_are(n: int, seed: int) -> None:
    assert draw(300, seed=seed)[:n] == draw(n, seed=seed)


def test_all_personas_and_sentences_are_drawn_alike() -> None:
    """400 profiles of 1 of 4 sentences: each 100 times, give or take five standard errors."""
    form = {"sentences": SENTENCES[:4], "sentences_per_profile": 1}
    counts = Counter(p.sentences[0] for seed in range(100) for p in draw(4, seed=seed, **form))
    assert set(counts) == set(SENTENCES[:4])
    assert all(abs(n - 100) < 5 * (400 * 0.25 * 0.75) ** 0.5 for n in counts.values())


def test_repeats_in_the_sources_count_once() -> None:
    personas = ["A nurse.", " a nurse. ", "A NURSE.", "", "  ", "A pilot."]
    (first, second) = draw(2, personas=personas, sentences_per_profile=0, template="$persona")
    assert sorted(p.persona.casefold() for p in (first, second)) == ["a nurse.", "a pilot."]
    with pytest.raises(StudyError, match="has only 2 distinct personas"):
        draw(3, personas=personas)


@pytest.mark.parametrize(
    "persona", ["{braces} {0} {}", "$persona $sentences $$ ${x}", "100 % %s", "a\nb", "\\1 ünï 😀"]
)
def test_text_of_personas_is_only_text(persona: str) -> None:
    (profile,) = draw(1, personas=[persona], sentences=["$persona", "{y}"], sentences_per_profile=2)
    sentences = " ".join(profile.sentences)
    assert profile.text == f"You talk with: {persona}\nThey say: {sentences}"
    assert sorted(profile.sentences) == ["$persona", "{y}"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"template": "$sentences"}, "profiles.template: lacks $persona"),
        ({"template": "$persona"}, "profiles.template: lacks $sentences"),
        ({"template": TEMPLATE + "$name"}, "the only placeholders are $persona and $sentences"),
        ({"template": TEMPLATE + "costs 5 $"}, "write $$ for a dollar sign"),
        ({"n_profiles": 301}, "301 profiles are needed (the largest tasks.*.runs)"),
        ({"personas": []}, "has only 0 distinct personas"),
        ({"sentences_per_profile": 51}, "profiles.sentences_per_profile is 51, but"),
        ({"sentences": []}, "has only 0 distinct sentences"),
    ],
)
def test_what_cannot_be_drawn_names_the_setting(options: Any, message: str) -> None:
    with pytest.raises(StudyError, match=re.escape(message)) as caught:
        draw(**options)
    assert "\n" not in str(caught.value)
