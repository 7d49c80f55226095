"""How varied are letters? The entropy of answers to choices and scales, of probabilities where stated."""

from fieldwork.estimates.declaration import Measure, ReaderQuestion, entropy_bounds
from fieldwork.statistics.arrays import Floats, Mentions
from fieldwork.statistics.entropy import entropy_bits


def letter_bits(mentions: Mentions) -> Floats:
    """Entropy of the letters' shares, for each row of mentions."""
    return entropy_bits(mentions / mentions.sum(axis=1, keepdims=True))


QUESTION = ReaderQuestion(
    title="How varied letters are",
    sentence="Do answers by letter vary more with a user? Mean entropy over questions, in bits: 0 where "
    "all answers are the same letter. It is of the model's probabilities where answers state them.",
    kinds=("choice", "scale"),
    measures=[
        Measure(
            name="letter_entropy",
            title="Entropy of letters",
            words="variety of letters",
            meaning="Shannon entropy of the shares of the letters, in bits; unread letters are one more",
            statistic=letter_bits,
            bounds=entropy_bounds,
            is_by_item=True,
            is_tested=True,
            is_claimed=True,
            directions=("more varied", "less varied"),
            margin="entropy_bits",
            unit="bits",
        ),
    ],
)
