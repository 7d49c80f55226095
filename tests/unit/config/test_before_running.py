"""What is refused before anything runs: misspelt targets, and models whose key is not there."""

from typing import Any

import pytest

from fieldwork.config.models import require_keys
from fieldwork.config.names import refuse_misspelt_targets, words_after
from fieldwork.errors import StudyError

RULES = ["all", "plan", "plan_study", "archive", "plot_fig1"]
MODELS: dict[str, Any] = {
    "a": {"api_key_env": "A_KEY"},
    "b": {"api_key_env": "B_KEY"},
    "server": {"api_key_env": None},
    "small": {},
}


@pytest.mark.parametrize("word", ["pln plan", "archiv archive", "explore explorer"])
def test_a_misspelt_target_is_named_with_the_one_that_is_meant(word: str) -> None:
    word, meant = word.split()
    sentence = rf"^{word}: there is no such target; did you mean {meant}\?"
    with pytest.raises(StudyError, match=sentence):
        refuse_misspelt_targets(["snakemake", "-n", word, "--cores", "2"], RULES)


@pytest.mark.parametrize(
    "words", ["--quiet rules -- plan", "results/pln", "plot_fig1", "--profile slurm"]
)
def test_other_words_of_a_command_line_are_left_alone(words: str) -> None:
    line = ["snakemake", *words.split()]
    refuse_misspelt_targets(line, RULES)
    # and hide no other word
    with pytest.raises(StudyError, match=r"^pln: "):
        refuse_misspelt_targets([*line, "pln"], RULES)


def test_the_words_after_a_target_end_at_the_next_option() -> None:
    line = ["snakemake", "-n", "describe", "answers", "items", "--configfile", "x.yaml"]
    assert words_after("describe", line) == ["answers", "items"]
    assert words_after("x.yaml", line) == []


def test_keys_that_are_not_there_are_named_with_their_models() -> None:
    require_keys({"models": MODELS}, ["a", "server", "small"], {"A_KEY": "x"})
    with pytest.raises(StudyError, match=r"^[^\n]*has no A_KEY and B_KEY[^\n]*$") as error:
        require_keys({"models": MODELS}, ["a", "b"], {"A_KEY": " "})
    assert "models.b.api_key_env names B_KEY" in str(error.value)
