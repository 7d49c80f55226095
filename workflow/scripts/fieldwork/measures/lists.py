"""How varied are lists? Different options, the five commonest, and the entropy of what they name."""

import numpy as np

from fieldwork.estimates.declaration import (
    EqualSize,
    Measure,
    ReaderQuestion,
    entropy_bounds,
    share_bounds,
)
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.entropy import plug_in_bits
from fieldwork.statistics.richness import rarefaction_table

TOP = 5


def top5_share(counts: Counts) -> Floats:
    """Share of the mentions that the five commonest options have, for each row of counts."""
    top = counts if counts.shape[1] <= TOP else np.partition(counts, -TOP, axis=1)[:, -TOP:]
    share: Floats = top.sum(axis=1) / counts.sum(axis=1)
    return share


def rest_share(counts: Counts) -> Floats:
    """1 less the share of the five commonest."""
    return 1 - top5_share(counts)


def expected_options(size: EqualSize) -> float:
    """Different options to expect among so many of the answers (Hurlbert 1971)."""
    return float(rarefaction_table(size.n_answers, size.n_equal)[size.counts].sum())


QUESTION = ReaderQuestion(
    title="Heterogeneity",
    sentence="Do answers vary more with a user? Mean entropy of prompts, in bits at equal n: higher is "
    "more varied. The difference and its test speak of these prompts; the interval for prompts like "
    "these has other prompts drawn as well.",
    kinds=("list",),
    references=("baseline", "controls", "field"),
    measures=[
        Measure(
            name="unique_items",
            title="Different options",
            meaning="different options to expect among `n_equal` answers",
            exact=expected_options,
            is_by_item=True,
            is_over_items=False,
        ),
        Measure(
            name="top5_share",
            title="Top-5 share",
            meaning="share of the mentions that the five commonest options have",
            statistic=top5_share,
            bounds=share_bounds,
            is_by_item=True,
            is_over_items=False,
        ),
        Measure(
            name="one_minus_top5_share",
            title="1 − top-5 share",
            meaning="1 less the share of the mentions that the five commonest options have",
            statistic=rest_share,
            bounds=share_bounds,
            is_by_item=True,
            is_tested=True,
            is_for_other_prompts=True,
            directions=("more varied", "less varied"),
            unit="points",
            scale=100,
        ),
        Measure(
            name="entropy_bits",
            title="Entropy",
            words="heterogeneity",
            meaning="Shannon entropy of the shares of mentions, in bits",
            statistic=plug_in_bits,
            bounds=entropy_bounds,
            is_by_item=True,
            is_tested=True,
            is_claimed=True,
            beside_field="field_heterogeneity",
            is_for_other_prompts=True,
            directions=("more varied", "less varied"),
            margin="entropy_bits",
            unit="bits",
        ),
    ],
)
