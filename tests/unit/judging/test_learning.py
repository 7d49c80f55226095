"""What is learnt from raters: held out by user, found where it is, and not found where nothing is."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from fieldwork.encoder import Vectors
from fieldwork.judging.learning import (
    FEWEST_USERS,
    ONE_ANSWER,
    Verifier,
    features_of,
    fold_of_users,
    labels_of,
    learn,
    learnt_scores,
)
from fieldwork.records.judging import Judgement, LearntScore, UnitText
from unit.judging.unit_texts import BETTER, RIGHT, unit_text
from unit.table_rows import row_of

DIMENSIONS = 24


def encode(texts: Sequence[str]) -> Vectors:
    """Random unit vectors, of which the first number says whether the text is good."""
    rows = []
    for text in texts:
        seed = int.from_bytes(text.encode()[-8:], "big") + len(text)
        row = np.random.default_rng(seed).normal(size=DIMENSIONS)
        row[0] = 6 * (("good" in text) - ("bad" in text)) or row[0]
        rows.append(row / np.linalg.norm(row))
    return np.array(rows, dtype=np.float32)


def attributes(n_users: int = 60, per_user: int = 4) -> list[UnitText]:
    generator = np.random.default_rng(3)
    return [
        unit_text(
            f"u{user}-{n}",
            f"user{user}",
            attribute=f"{generator.choice(['good', 'bad'])} fact {user} {n}",
            evidence=f"→ User: something good {user} {n}\n\nAssistant: Yes.",
        )
        for user in range(n_users)
        for n in range(per_user)
    ]


def judgement(unit: UnitText, value: str) -> Judgement:
    scale = BETTER if unit.text_b else RIGHT
    keys = {"scale": scale.name, "unit_id": unit.unit_id, "rater": "p", "rater_kind": "person"}
    return row_of(Judgement, **keys, repeat=0, value=value, source="kit")


def truthful(units: Sequence[UnitText]) -> list[Judgement]:
    return [judgement(u, "accept" if "good" in (u.attribute or "") else "reject") for u in units]


def quality(scores: Sequence[LearntScore]) -> float:
    """How often an accepted unit has a higher score than a rejected one (AUC)."""
    yes = np.array([s.score for s in scores if s.label == 1])
    no = np.array([s.score for s in scores if s.label == 0])
    return float((yes[:, None] > no[None]).mean())


def test_what_raters_see_is_learnt_and_tested_on_other_users() -> None:
    units = attributes()
    scores = learnt_scores(units, truthful(units), RIGHT, encode)
    assert quality(scores) > 0.95
    assert {score.labels_of for score in scores} == {"people"}
    assert all(score.fold == fold_of_users([score.user_id])[score.user_id] for score in scores)


def test_nothing_is_learnt_where_labels_say_nothing() -> None:
    units, generator = attributes(), np.random.default_rng(1)
    qualities = []
    for _ in range(8):
        labels = [judgement(u, str(generator.choice(["accept", "reject"]))) for u in units]
        qualities.append(quality(learnt_scores(units, labels, RIGHT, encode)))
    # no model that has seen its test users would stay at a half
    assert float(np.mean(qualities)) == pytest.approx(0.5, abs=0.04)


def test_no_user_is_in_training_and_test() -> None:
    units = attributes()
    labels = labels_of(truthful(units), RIGHT)
    features = features_of(units, encode)
    models = learn(units, features, labels)
    users = [unit.user_id for unit in units]
    scores = models.scores(features.values, users, is_acceptance=True)
    # with one user's labels turned round, that user's scores stay as they are, and others' move
    turned = {k: 1 - v if k.startswith("u7-") else v for k, v in labels.values.items()}
    other = learn(units, features, labels._replace(values=turned))
    other_scores = other.scores(features.values, users, is_acceptance=True)
    fold = models.folds["user7"]
    is_same_fold = np.array([models.folds[user] == fold for user in users])
    moved = np.array(scores) != np.array(other_scores)
    assert not moved[is_same_fold].any()
    assert moved[~is_same_fold].all()


def test_few_users_and_one_answer_teach_nothing_and_say_so() -> None:
    units = attributes(FEWEST_USERS - 1)
    scores = learnt_scores(units, truthful(units), RIGHT, encode)
    assert {score.score for score in scores} == {None}
    assert "nothing is learnt from fewer than 10" in (scores[0].reason or "")
    units = attributes()
    alike = [judgement(unit, "reject") for unit in units]
    assert {s.reason for s in learnt_scores(units, alike, RIGHT, encode)} == {ONE_ANSWER}
    assert learnt_scores([], [], RIGHT, encode) == []


def test_ratings_of_pairs_are_foretold_by_what_the_answers_say() -> None:
    generator, words = np.random.default_rng(2), ("bad", "plain", "good")
    units, rows = [], []
    for user, n in product(range(60), range(3)):
        worth, shown = int(generator.integers(3)), {"facts": ["good things"], "question": "What?"}
        texts = {"text_a": f"plain {user} {n}", "text_b": f"{words[worth]} {user} {n}"}
        units.append(unit_text(f"p{user}-{n}", f"user{user}", **shown, **texts))
        rows.append(judgement(units[-1], str(2 + worth)))
    scores = learnt_scores(units, rows, BETTER, encode)
    labels = [score.label for score in scores]
    assert np.corrcoef([score.score for score in scores], labels)[0, 1] > 0.7
    assert set(labels) == {2, 3, 4}


def test_a_verifier_scores_what_raters_have_not_seen() -> None:
    units = attributes()
    verifier = Verifier(units, truthful(units), RIGHT, encode)
    new = [
        unit_text(user, user, attribute=f"{word} new fact", evidence="→ User: something")
        for user, word in (("user3", "good"), ("user4", "bad"))
    ]
    good, bad = verifier.scores(new)
    assert (good or 0) > 0.5 > (1 if bad is None else bad)
    assert verifier.scores([]) == []
    assert Verifier(units, [], RIGHT, encode).scores(new) == [None, None]
