"""What raters would say, learnt from what they said of other users' units.

A model is trained on all users but those of a fold, and scores the units of these: no user is in both, so
the scores are what a new user's would be. Features are vectors of the encoder and a few counts. The
models are small on purpose: a logistic regression of acceptance, a ridge regression of ratings.

Beside each learnt score stands an untrained one, the cosine of the two texts that are compared.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fieldwork.encoder import Vectors
from fieldwork.records.judging import Judgement, LearntScore, UnitText
from fieldwork.sections.judging import Scale
from fieldwork.statistics.arrays import Floats

FOLDS = 5
FEWEST_USERS = 10
"""Users with judged units below which nothing is learnt."""
# chosen before any data were looked at; few labels and some 400 features take a strong penalty
LOGISTIC_C = 0.02
RIDGE_ALPHA = 300.0

ONE_ANSWER = "all units are judged alike, so there is nothing to learn"

Encode = Callable[[Sequence[str]], Vectors]


class Features(NamedTuple):
    """What is known of units before anybody judges them.

    Attributes:
        values: shape (units, features).
        baseline: a score without any training, higher for what should be accepted or preferred.
    """

    values: Floats
    baseline: Floats


class Labels(NamedTuple):
    """What raters say of some units: the share of yes, or the mean rating.

    Attributes:
        values: by unit id.
        raters: `people`, or `models` where no person judged.
        is_acceptance: whether they are shares of yes.
    """

    values: Mapping[str, float]
    raters: str
    is_acceptance: bool


def labels_of(judgements: Sequence[Judgement], scale: Scale) -> Labels:
    """The labels that units are learnt from: people's, or those of models where there are none."""
    judgements_with_value = [
        j for j in judgements if j.scale == scale.name and j.value is not None and j.repeat == 0
    ]
    people = [j for j in judgements_with_value if j.rater_kind == "person"]
    is_acceptance = bool(scale.accepted)
    votes: dict[str, list[float]] = {}
    for judgement in people or judgements_with_value:
        option = judgement.value or ""
        number = float(option in scale.accepted) if is_acceptance else scale.worth(option)
        votes.setdefault(judgement.unit_id, []).append(number)
    means = {unit: float(np.mean(numbers)) for unit, numbers in votes.items()}
    return Labels(means, "people" if people else "models", is_acceptance)


# ---- features ----------------------------------------------------------------------------------------


def features_of(units: Sequence[UnitText], encode: Encode) -> Features:
    """The features of units of one kind."""
    if units and units[0].text_b is not None:
        return _pair_features(units, encode)
    sides = [(unit.attribute or "", _other_side(unit)) for unit in units]
    texts = list(dict.fromkeys(text for pair in sides for text in pair))
    vectors = dict(zip(texts, encode(texts), strict=True)) if texts else {}
    first, second = (np.array([vectors[pair[i]] for pair in sides]) for i in (0, 1))
    cosines = _products(first, second)
    counts = np.array([[len(a.split()), len(b.split()), _digits(a)] for a, b in sides])
    parts = [cosines[:, None], np.log1p(counts), first, first * second]
    return Features(np.column_stack(parts).astype(np.float64), cosines)


def _other_side(unit: UnitText) -> str:
    """What an attribute is held against: the question, or the turns that show it."""
    if unit.question is not None:
        return unit.question
    turns = (unit.evidence or "").split("\n\n")
    return "\n\n".join(turn for turn in turns if turn.startswith("→")) or (unit.evidence or "")


def _products(first: Vectors, second: Vectors) -> Floats:
    """The scalar product of each row with that of the other."""
    return np.asarray((first * second).sum(axis=1, dtype=np.float64))


def _digits(text: str) -> int:
    return sum(map(str.isdigit, text))


def _pair_features(units: Sequence[UnitText], encode: Encode) -> Features:
    """How much nearer side b is to the user and to the question, and how the two differ."""
    columns = [
        (" ".join(unit.facts), unit.question or "", unit.text_a or "", unit.text_b or "")
        for unit in units
    ]
    texts = list(dict.fromkeys(text for row in columns for text in row))
    vectors = dict(zip(texts, encode(texts), strict=True))
    facts, question, a, b = (np.array([vectors[row[i]] for row in columns]) for i in range(4))
    nearer_to_user = _products(facts, b - a)
    nearer_to_question = _products(question, b - a)
    likeness = _products(a, b)
    longer = np.array([np.log1p(len(row[3])) - np.log1p(len(row[2])) for row in columns])
    parts = [nearer_to_user, nearer_to_question, likeness, longer, b - a]
    return Features(np.column_stack(parts).astype(np.float64), nearer_to_user)


# ---- training ----------------------------------------------------------------------------------------


class LearntModels(NamedTuple):
    """The models of all folds.

    Attributes:
        folds: of each user.
        models: by fold; empty where nothing can be learnt.
        reason: why nothing can be learnt.
    """

    folds: Mapping[str, int]
    models: Mapping[int, Any]
    reason: str | None = None

    def scores(self, values: Floats, users: Sequence[str], *, is_acceptance: bool) -> list[float]:
        """What the model that never saw a user says of each unit: a probability of yes, or a rating."""
        numbers = np.empty(len(users))
        folds = np.array([self.folds[user] for user in users])
        for fold in np.unique(folds):
            rows, model = folds == fold, self.models[int(fold)]
            part = values[rows]
            numbers[rows] = (
                model.predict_proba(part)[:, 1] if is_acceptance else model.predict(part)
            )
        return [float(number) for number in numbers]


def learn(units: Sequence[UnitText], features: Features, labels: Labels) -> LearntModels:
    """A model for each fold of users, trained on the units of the other folds."""
    users = [unit.user_id for unit in units]
    folds = fold_of_users(users)
    rows = [place for place, unit in enumerate(units) if unit.unit_id in labels.values]
    judged_users = {users[row] for row in rows}
    if len(judged_users) < FEWEST_USERS:
        reason = (
            f"units of {len(judged_users)} users are judged, and nothing is learnt from fewer than "
            f"{FEWEST_USERS}"
        )
        return LearntModels(folds, {}, reason)
    numbers = np.array([labels.values[units[row].unit_id] for row in rows])
    targets = numbers > 0.5 if labels.is_acceptance else numbers
    fold_of_row = np.array([folds[users[row]] for row in rows])
    models = {}
    for fold in sorted(set(folds.values())):
        part = fold_of_row != fold
        if len(np.unique(targets[part])) < 2:
            return LearntModels(folds, {}, ONE_ANSWER)
        models[fold] = _fit(
            features.values[rows][part], targets[part], is_acceptance=labels.is_acceptance
        )
    return LearntModels(folds, models)


def fold_of_users(users: Sequence[str]) -> dict[str, int]:
    """The fold of each user, by a hash, so that further users move nobody; folds are about equal."""
    return {
        user: int.from_bytes(hashlib.sha256(f"fold:{user}".encode()).digest()[:4], "big") % FOLDS
        for user in users
    }


def _fit(values: Floats, targets: Any, *, is_acceptance: bool) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    model = (
        LogisticRegression(C=LOGISTIC_C, max_iter=2_000)
        if is_acceptance
        else Ridge(alpha=RIDGE_ALPHA)
    )
    # on one thread sums have one order, and equal units give equal bits
    with threadpool_limits(limits=1):
        return make_pipeline(StandardScaler(), model).fit(values, targets)


def learnt_scores(
    units: Sequence[UnitText], judgements: Sequence[Judgement], scale: Scale, encode: Encode
) -> list[LearntScore]:
    """The learnt and the untrained score of every unit, judged or not."""
    if not units:
        return []
    labels, features = labels_of(judgements, scale), features_of(units, encode)
    models = learn(units, features, labels)
    users = [unit.user_id for unit in units]
    scores: Sequence[float | None] = [None] * len(units)
    if models.reason is None:
        scores = models.scores(features.values, users, is_acceptance=labels.is_acceptance)
    return [
        LearntScore(
            unit_id=unit.unit_id,
            user_id=unit.user_id,
            fold=models.folds[unit.user_id],
            score=score,
            untrained_score=float(baseline),
            label=labels.values.get(unit.unit_id),
            labels_of=labels.raters,
            reason=models.reason,
        )
        for unit, score, baseline in zip(units, scores, features.baseline, strict=True)
    ]


class Verifier:
    """Scores attributes that raters have not seen, by models that have not seen their user.

    Args:
        units: judged or not.
    """

    def __init__(
        self,
        units: Sequence[UnitText],
        judgements: Sequence[Judgement],
        scale: Scale,
        encode: Encode,
    ) -> None:
        self._encode = encode
        self._models = learn(units, features_of(units, encode), labels_of(judgements, scale))

    def scores(self, units: Sequence[UnitText]) -> list[float | None]:
        """The probability that each is accepted; None where nothing could be learnt."""
        if not units or self._models.reason is not None:
            return [None] * len(units)
        features = features_of(units, self._encode)
        users = [unit.user_id for unit in units]
        return [*self._models.scores(features.values, users, is_acceptance=True)]
