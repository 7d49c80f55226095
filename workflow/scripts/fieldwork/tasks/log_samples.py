"""A test set out of a log of questions: so many of each language, topic and length as the log has.

Owns the strata, how many questions each gives, and what counts as the same question asked twice.
Promises that equal logs and seeds give equal samples, whatever the order of the log.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.cluster.vq import kmeans2

MAX_TOPICS = 8
QUESTIONS_A_TOPIC = 5
"""A topic is wished to give so many questions of the sample, so that small samples have few topics."""

SAME_QUESTION = 0.92
"""Cosine of two questions' vectors from which they count as one question."""

LENGTHS = ("short", "middle", "long")

Vectors = npt.NDArray[np.float32]


class LogQuestion(NamedTuple):
    """A question of a log. `topic` holds the words that are commonest in its topic beside the others."""

    text: str
    language: str
    topic: str
    length: str


class LogSample(NamedTuple):
    """The questions drawn, and how many were passed over because one like them was drawn before."""

    questions: list[LogQuestion]
    n_repeats: int


def describe_questions(
    texts: Sequence[str], languages: Sequence[str], vectors: Vectors, n_drawn: int, seed: int
) -> list[LogQuestion]:
    """What each question of a log is: its language, topic and length.

    Topics are clusters of the vectors (k-means); lengths are thirds of the log, by words.

    Args:
        vectors: unit length, shape (questions, dimensions).
        n_drawn: size of the sample, which decides how many topics there are.
    """
    topics = _topics(texts, vectors, n_drawn, seed)
    lengths = _lengths(texts)
    return [LogQuestion(*values) for values in zip(texts, languages, topics, lengths, strict=True)]


def _topics(texts: Sequence[str], vectors: Vectors, n_drawn: int, seed: int) -> list[str]:
    n_topics = max(1, min(MAX_TOPICS, n_drawn // QUESTIONS_A_TOPIC, len({*texts})))
    if n_topics == 1:
        return ["all"] * len(texts)
    # in the order of the texts, not of the log
    order = sorted(range(len(texts)), key=lambda place: texts[place])
    _, clusters = kmeans2(vectors[order].astype(float), n_topics, minit="++", seed=seed)
    cluster_of = dict(zip(order, clusters.tolist(), strict=True))
    names = _topic_names(texts, cluster_of)
    return [names[cluster_of[place]] for place in range(len(texts))]


def _topic_names(texts: Sequence[str], cluster_of: Mapping[int, int]) -> dict[int, str]:
    """The three words whose share of a topic's questions is farthest above that of all questions."""
    words = [{*re.findall(r"[^\W\d_]{3,}", text.casefold())} for text in texts]
    totals = Counter(word for of_text in words for word in of_text)
    names: dict[int, str] = {}
    for cluster in sorted({*cluster_of.values()}):
        members = [place for place, one in cluster_of.items() if one == cluster]
        counts = Counter(word for place in members for word in words[place])
        gain = {w: n / len(members) - totals[w] / len(texts) for w, n in counts.items()}
        best = sorted((w for w in gain if gain[w] > 0), key=lambda w: (-gain[w], w))[:3]
        names[cluster] = " ".join(best) or f"topic {cluster}"
    return names


def _lengths(texts: Sequence[str]) -> list[str]:
    counts = np.array([len(text.split()) for text in texts])
    limits = np.quantile(counts, [1 / 3, 2 / 3])
    return [LENGTHS[int(np.searchsorted(limits, count, side="left"))] for count in counts]


def sample_questions(
    questions: Sequence[LogQuestion], vectors: Vectors, n_drawn: int, seed: int
) -> LogSample:
    """A sample of a log, each language, topic and length with its share (largest remainders).

    A question like one that was drawn is passed over, and the next of its stratum is taken; where a
    stratum has no more, the sample is smaller.

    Args:
        vectors: of the questions, unit length, shape (questions, dimensions).
    """
    # a digest orders the questions at random, and alike whatever the order of the log
    order = sorted(
        range(len(questions)), key=lambda p: (_stratum(questions[p]), _lot(p, questions, seed))
    )
    strata = {key: list(group) for key, group in groupby(order, lambda p: _stratum(questions[p]))}
    quotas = _quotas({key: len(places) for key, places in strata.items()}, n_drawn)
    drawn_places: list[int] = []
    n_repeats = 0
    for key, places in strata.items():
        n_wanted = len(drawn_places) + quotas[key]
        for place in places:
            if len(drawn_places) == n_wanted:
                break
            if drawn_places and (vectors[drawn_places] @ vectors[place]).max() >= SAME_QUESTION:
                n_repeats += 1
                continue
            drawn_places.append(place)
    return LogSample([questions[place] for place in drawn_places], n_repeats)


def _stratum(question: LogQuestion) -> tuple[str, str, str]:
    return question.language, question.topic, question.length


def _lot(place: int, questions: Sequence[LogQuestion], seed: int) -> str:
    return hashlib.sha256(f"{seed} {questions[place].text}".encode()).hexdigest()


def _quotas(
    sizes: Mapping[tuple[str, str, str], int], n_drawn: int
) -> dict[tuple[str, str, str], int]:
    """Whole numbers in proportion to sizes that add up to `n_drawn`, or to all there are."""
    total = sum(sizes.values())
    n_drawn = min(n_drawn, total)
    exact = {key: n_drawn * size / total for key, size in sizes.items()}
    quotas = {key: int(share) for key, share in exact.items()}
    rest = sorted(exact, key=lambda key: (quotas[key] - exact[key], key))
    for key in rest[: n_drawn - sum(quotas.values())]:
        quotas[key] += 1
    return quotas
