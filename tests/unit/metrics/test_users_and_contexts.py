"""Users and contexts against plain loops over pairs, known sources, and input without an answer."""

import itertools
import random

import pytest

from fieldwork.estimates.answer_sets import AnswerSet, ItemAnswers
from fieldwork.metrics.nests import Nest, measure_nests, read_nest
from fieldwork.records.metrics import NestedVariance
from fieldwork.records.parsing import Answer
from unit.metrics.metric_frames import answer_frame, chosen, differ, mean

NESTS = {"first": ["first", "second"]}
Answers = list[tuple[str, ...]]
Source = dict[str, dict[str, dict[str, Answers]]]
"""Answers by item, user and context."""


def apart(first: Answers, second: Answers) -> float:
    return mean([differ(a, b) for a in first for b in second])


def plainly(source: Source) -> tuple[float, float, float]:
    """Mean distances in a context, between contexts of a user, and between users, by loops."""
    items = []
    for users in source.values():
        same, context, other = [], [], []
        for own in users.values():
            reruns = [
                mean([differ(a, b) for a, b in itertools.combinations(answers, 2)])
                for answers in own.values()
            ]
            same.append(mean(reruns))
            context.append(mean([apart(a, b) for a, b in itertools.combinations(own.values(), 2)]))
        for one, another in itertools.combinations(users.values(), 2):
            pairs = itertools.product(one.values(), another.values())
            other.append(mean([apart(a, b) for a, b in pairs]))
        items.append((mean(same), mean(context), mean(other)))
    whole = [item for item in items if all(value == value for value in item)]
    same, context, other = (mean(part) for part in zip(*whole, strict=True))
    return same, context, other


def drawn(seed: int, users: int = 6) -> Source:
    """Lists of uneven lengths and numbers; contexts and whole users can be missing."""
    draw = random.Random(seed)
    source: Source = {}
    for item in "ij":
        for user in range(users):
            for context in draw.sample(["first", "second", "third"], draw.choice([0, 1, 2, 3])):
                answers = [
                    tuple(draw.sample("abcdef", draw.choice([1, 2, 3])))
                    for _ in range(draw.choice([1, 2, 3]))
                ]
                source.setdefault(item, {}).setdefault(f"u{user}", {})[context] = answers
    return source


def nest_of(source: Source) -> Nest:
    conditions: dict[str, dict[str, ItemAnswers]] = {}
    for item, users in source.items():
        for user, contexts in sorted(users.items()):
            for context, answers in contexts.items():
                cell = [AnswerSet(user, k, options) for k, options in enumerate(answers)]
                items = conditions.setdefault(context, {})
                items.setdefault(item, ItemAnswers([], 0)).answers.extend(cell)
    return read_nest(conditions)


@pytest.mark.parametrize("seed", range(8))
def test_distances_are_those_of_loops_over_pairs_also_without_each_user(seed: int) -> None:
    source = drawn(seed, users=12)
    nest = nest_of(source)
    distances = nest.distances()
    assert [part[0] for part in distances] == pytest.approx(plainly(source))
    for place, user in enumerate(nest.users, 1):
        rest = {
            item: {name: own for name, own in users.items() if name != user}
            for item, users in source.items()
        }
        assert [part[place] for part in distances] == pytest.approx(plainly(rest), nan_ok=True)


def asked(letters: dict[str, tuple[str, str]], item_id: str = "i") -> list[Answer]:
    """What each user answers in two contexts, one letter a rerun."""
    return [
        answer
        for user, contexts in letters.items()
        for condition, answers in zip(NESTS["first"], contexts, strict=True)
        for answer in chosen(answers, puppet_id=user, item_id=item_id, condition=condition)
    ]


def only(answers: list[Answer], n: int = 199) -> NestedVariance:
    (row,) = measure_nests(
        answer_frame(answers), nests=NESTS, rarest_users=0.05, n_permutations=n, seed=1
    )
    return row


def test_all_is_of_users_where_each_keeps_to_a_letter() -> None:
    row = only(asked({f"u{k}": ("ABCD"[k % 4] * 2,) * 2 for k in range(12)}))
    assert (row.share_user, row.share_context) == (1.0, 0.0)
    assert (row.var_user, row.var_context, row.var_rerun) == (row.var_answers, 0.0, 0.0)
    assert (row.p_user or 1.0) < 0.05
    assert row.p_context == 1.0
    assert (row.n_users, row.n_nested, row.n_contexts, row.n_responses) == (12, 12, 2, 48)


def test_all_is_of_contexts_where_users_have_one_of_each() -> None:
    items = [asked({f"u{k}": ("AA", "BB") for k in range(12)}, item) for item in "ij"]
    row = only([answer for answers in items for answer in answers])
    assert row.var_context == pytest.approx(1.0)
    # two users differ half the time, two contexts of one always
    assert row.share_user == pytest.approx(-1.0)
    assert row.p_user == 1.0
    assert (row.p_context or 1.0) < 0.05


def test_letters_asked_once_split_users_from_the_rest() -> None:
    row = only(asked({f"u{k}": ("AB"[k % 2],) * 2 for k in range(12)}))
    assert row.share_user == 1.0
    assert (row.share_context, row.p_context, row.var_rerun) == (None, None, None)
    assert "no context answers an item twice" in str(row.reason)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (asked({f"u{k}": ("", "") for k in range(3)}) + chosen([None], condition="first"),
         "none of 1 answers can be read"),
        (asked({f"u{k}": ("AB", "") for k in range(3)}), "each user has one context"),
        (asked({"u0": ("AB", "BA")}), "no item is answered by one user in two contexts, and by"),
        (asked({f"u{k}": ("AA", "AA") for k in range(3)}), "all answers to an item are the same"),
    ],
)  # fmt: skip
def test_without_a_share_there_is_a_reason(answers: list[Answer], reason: str) -> None:
    row = only(answers)
    assert (row.share_user, row.share_context, row.p_user, row.p_context) == (None,) * 4
    assert reason in str(row.reason)


def test_reruns_of_users_with_one_context_do_not_test_contexts() -> None:
    once = asked({f"u{k}": ("ABC"[k % 3], "ABC"[k % 2]) for k in range(5)})
    row = only(once + asked({"u9": ("AB", "")}))
    assert row.p_user is not None
    assert row.p_context is None
    assert "no test: no user answers an item in two contexts and twice in one" in str(row.reason)


def test_three_users_are_too_few_to_test_and_for_an_interval() -> None:
    few = only(asked({f"u{k}": ("ABC"[k] * 2, "ABC"[k] + "D") for k in range(3)}))
    assert few.p_user is None
    assert "no test: 3 users in two contexts; 4 are needed" in str(few.reason)
    assert "no interval: 3 users answer in two contexts" in str(few.reason)
    source = random.Random(5)

    def letters() -> str:
        return "".join(source.choices("ABC", k=2))

    many = only(
        [a for i in "ijk" for a in asked({f"u{k}": (letters(), letters()) for k in range(100)}, i)],
        19,
    )
    assert many.reason is None
    for low, value, high in (
        (many.user_low, many.share_user, many.user_high),
        (many.context_low, many.share_context, many.context_high),
    ):
        assert -1 < (low or 0) < (value or 0) < (high or 0) < 1
