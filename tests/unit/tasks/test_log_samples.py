"""Test sets out of logs: shares of the strata, repeats passed over, and the same sample every time."""

from collections import Counter

import numpy as np
import pytest

from fieldwork.tasks.log_samples import (
    LogQuestion,
    Vectors,
    describe_questions,
    sample_questions,
)


def unit_vectors(n: int, seed: int = 1, dimensions: int = 32) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(n, dimensions))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def questions(**sizes: int) -> list[LogQuestion]:
    return [
        LogQuestion(f"{language} {number}", language, "all", "short")
        for language, size in sizes.items()
        for number in range(size)
    ]


@pytest.mark.parametrize(("n", "shares"), [(10, (6, 3, 1)), (100, (60, 30, 10)), (7, (4, 2, 1))])
def test_each_stratum_has_its_share(n: int, shares: tuple[int, int, int]) -> None:
    log = questions(en=60, hi=30, zh=10)
    sample = sample_questions(log, unit_vectors(100), n, seed=3)
    counts = Counter(question.language for question in sample.questions)
    assert (counts["en"], counts["hi"], counts["zh"]) == shares


def test_the_order_of_the_log_changes_nothing() -> None:
    log, vectors = questions(en=30, hi=20), unit_vectors(50)
    backwards = sample_questions(log[::-1], vectors[::-1], 12, seed=3)
    assert sample_questions(log, vectors, 12, seed=3) == backwards
    assert sample_questions(log, vectors, 12, seed=4).questions != backwards.questions


def test_a_question_put_twice_is_drawn_once() -> None:
    # ten questions, each put five times in nearly the same words
    vectors = np.repeat(unit_vectors(10), 5, axis=0)
    sample = sample_questions(questions(en=50), vectors, 20, seed=3)
    assert len(sample.questions) == 10
    assert sample.n_repeats == 40
    numbers = {int(question.text.split()[1]) // 5 for question in sample.questions}
    assert numbers == set(range(10))


def test_topics_are_what_lies_together() -> None:
    middles = np.eye(4, dtype=np.float32)
    noise = np.random.default_rng(5).normal(0, 0.05, size=(80, 4)).astype(np.float32)
    vectors = np.repeat(middles, 20, axis=0) + noise
    words = ("garden tomatoes", "engine gearbox", "tax return", "piano lessons")
    texts = [f"{words[number // 20]} question {number}" for number in range(80)]
    log = describe_questions(texts, ["en"] * 80, vectors, n_drawn=20, seed=1)
    topics = {question.topic for question in log}
    assert len(topics) == 4
    for question in log:
        assert question.text.split()[0] in question.topic.split()
    # another order of the log gives the same topics
    again = describe_questions(texts[::-1], ["en"] * 80, vectors[::-1], n_drawn=20, seed=1)
    assert sorted(again) == sorted(log)


def test_lengths_are_thirds_of_the_log() -> None:
    texts = [" ".join(["word"] * (number + 1)) for number in range(30)]
    log = describe_questions(texts, ["en"] * 30, unit_vectors(30), n_drawn=5, seed=1)
    assert Counter(question.length for question in log) == {"short": 10, "middle": 10, "long": 10}
    # a log of one length has one stratum
    same = describe_questions(["a b"] * 4, ["en"] * 4, unit_vectors(4), n_drawn=2, seed=1)
    assert {question.length for question in same} == {"short"}
