"""What the paper claims with a number or a direction (Wang, Ho and Koyejo 2025, Patterns)."""

from typing import NamedTuple

FIRST_TO_SECOND, FIRST_TO_FIFTH = 0.006, 0.037
"""Distances on HELM Lite's leaderboard, as the paper has them."""


class PaperClaim(NamedTuple):
    """A claim of the paper.

    Attributes:
        name: what rows of results.csv call it.
        text: the claim, as one that could hold or not.
        numbers: the paper's own, with the models and arms they are of.
    """

    name: str
    text: str
    numbers: str


LISTS = (
    PaperClaim(
        "Tesla",
        "With a user, fewer lists of companies name Tesla.",
        "93 % offline, 35 % in the field",
    ),
    PaperClaim(
        "Patagonia",
        "With a user, fewer lists of companies name Patagonia.",
        "91 % offline, 37 % in the field",
    ),
    PaperClaim(
        "first company",
        "With a user, fewer lists name the company that this model names most offline.",
        "Tesla and Patagonia stand for it",
    ),
    PaperClaim(
        "varied",
        "Lists are more varied with a user: their entropy, as a mean over the nine prompts.",
        "Figure 1, no number",
    ),
    PaperClaim(
        "every prompt",
        "They are so on each of nine prompts by each of three measures.",
        "9 of 9 by 3 measures, in the field",
    ),
    PaperClaim(
        "profile first",
        "Of the three kinds of simulated users, profiles give the most varied lists.",
        '"tends to", Figure 1',
    ),
)
CHOICES = (
    PaperClaim(
        "items",
        "Answers to the four choice items are others with a user.",
        "Figure 2, no number",
    ),
    PaperClaim(
        "all letters",
        "Only profiles bring out all four letters of the first choice item.",
        "4 letters in the field and with profiles, fewer elsewhere",
    ),
)
SCORES = (
    PaperClaim(
        "spread",
        "Scores differ more between users than between reruns.",
        "Figure 3, History and Profile",
    ),
    PaperClaim(
        "gap",
        "The lowest and highest score of a user are as far apart as places 1 and 5 of the leaderboard.",
        "3.7 points among ten users; places 1 and 2 are 0.6 apart",
    ),
    PaperClaim(
        "below",
        "Every user scores below every rerun.",
        "Gemini 2.0 Flash; GPT-4o mini's overlap",
    ),
    PaperClaim(
        "new letters",
        "To some questions users give a letter that reruns never gave, more than fresh reruns do.",
        "GPT-4o mini 23 % History, 13 % Profile; Gemini 25 %, 22 %; no fresh reruns",
    ),
)
FIELD = (
    PaperClaim(
        "field varied",
        "Real users' lists are more varied than offline, on all nine prompts and three measures.",
        "Figure 1",
    ),
    PaperClaim(
        "field between",
        "They are more varied than those of history and retrieval, and less than those of profiles.",
        "Figure 1",
    ),
    PaperClaim(
        "field letters",
        "On MMLU, real users get a greater spread of answers than any simulated ones.",
        "Figure 2",
    ),
)
"""Claims about real users, of whom this study has none."""
