"""Boards, ranks and distances beside the field, on answers whose truth is known."""

import dataclasses
import math
import random
from collections.abc import Sequence
from itertools import chain

import pytest
from scipy.spatial.distance import jensenshannon

from fieldwork.metrics.agreement.items import measure_item_agreement
from fieldwork.metrics.agreement.ranks import measure_rank_agreement
from fieldwork.metrics.agreement.values import AnswerSample, split_half_reliability
from fieldwork.records.field import ItemAgreement, RankAgreement
from fieldwork.records.parsing import Answer
from fieldwork.statistics.families import holm
from unit.metrics.metric_frames import answer_frame, asked, chosen, item_frame, listed, question

OPTIONS = [f"o{k:02}" for k in range(40)]


def field_letters(letters: Sequence[str | None], **names: str) -> list[Answer]:
    """A letter each of as many participants."""
    by_user = {f"p{k:02}": [letter] for k, letter in enumerate(letters)}
    return asked(by_user, condition="field", **names)


def lists_of(
    widths: Sequence[int], condition: str, *, n: int = 20, model: str = "m"
) -> list[Answer]:
    """n lists of five of the first `width` options for each item; in the field by participants."""
    source = random.Random(f"{condition}{widths}{model}")
    rows: list[Answer] = []
    for item, width in enumerate(widths):
        lists = [source.sample(OPTIONS[:width], 5) for _ in range(n)]
        rows += listed(*lists, condition=condition, item_id=f"i{item}", model=model)
    if condition != "field":
        return rows
    return [dataclasses.replace(a, puppet_id=f"p{a.replicate:02}", replicate=0) for a in rows]


def rank_rows(answers: list[Answer], *items: str) -> list[RankAgreement]:
    questions = item_frame(*(question(item) for item in items))
    return measure_rank_agreement(answer_frame(answers), questions, n_permutations=99, seed=1)


def item_rows(answers: list[Answer], *items: str) -> list[ItemAgreement]:
    questions = item_frame(*(question(item) for item in items))
    return measure_item_agreement(answer_frame(answers), questions, n_permutations=99, seed=1)


WIDTHS = (6, 8, 11, 15, 20, 28, 40)


def test_one_order_is_found() -> None:
    answers = lists_of(WIDTHS, "field") + lists_of(WIDTHS, "offline")
    row, top = rank_rows(answers)
    assert (row.measure, top.measure) == ("entropy_bits", "top_share")
    assert (row.rho, row.tau_b, row.n_discordant, row.n_pairs) == (1.0, 1.0, 0, 21)
    assert row.p_value == row.p_least == pytest.approx(2 / math.factorial(7))
    assert (row.reliability_field or 0) > 0.9
    assert (row.ceiling or 2) <= 1
    assert row.reason == "no interval: the bootstrap needs 9 items, there are 7"


def test_items_with_few_answers_are_left_out_and_told() -> None:
    with_few_answers = [
        a for a in lists_of(WIDTHS, "field") if a.item_id != "i0" or (a.puppet_id or "") < "p04"
    ]
    answers = with_few_answers + lists_of(WIDTHS, "offline")
    assert [(r.n_ranked, r.n_left_out, r.n_equal) for r in rank_rows(answers)] == [(6, 1, 20)] * 2
    (row,) = (r for r in item_rows(answers) if r.item_id == "i0")
    assert row.reason == "4 answers in the field and 20 under offline: 5 of each are needed"
    assert (row.field_rank, row.entropy_gap) == (None, None)
    assert row.js_distance is not None


def test_what_cannot_be_ranked_has_a_reason() -> None:
    answers = lists_of((6, 20), "offline") + lists_of((6, 20), "rag")
    assert rank_rows(answers) == item_rows(answers) == []
    few = lists_of((6, 20), "field") + lists_of((6, 20), "offline")
    alike = [a for i in "abc" for a in field_letters("AAAAAA", item_id=i)]
    alike += [a for i in "abc" for a in chosen("ABABAC", item_id=i, condition="offline")]
    for answers, reason in (
        (few, "2 items have enough answers on both sides, 3 are needed"),
        (alike, "one side has the same value for all items"),
    ):
        row = rank_rows(answers, "a", "b", "c")[0]
        assert (row.rho, row.tau_b, row.p_value, row.reason) == (None, None, None, reason)


def test_letters_are_ranked_by_their_share_correct_and_others_by_entropy() -> None:
    answers = [
        a
        for item, right in zip("abcd", (9, 6, 3, 1), strict=True)
        for a in field_letters("A" * right + "B" * (10 - right), item_id=item)
        + chosen("A" * right + "C" * (10 - right), item_id=item, condition="offline")
    ]
    gold = item_frame(*(question(i, gold="A" if i in "abc" else None) for i in "abcd"))
    rows = measure_item_agreement(answer_frame(answers), gold, n_permutations=99, seed=1)
    assert [(r.item_id, r.ranked_by, r.field_rank) for r in rows] == [
        ("a", "share_correct", 1.0),
        ("b", "share_correct", 2.0),
        ("c", "share_correct", 3.0),
        ("d", "entropy_bits", 1.0),
    ]


def test_models_are_ranked_from_three_on() -> None:
    arms = [
        lists_of([w + 3 * k for w in (6, 9, 12)], c, model=f"m{k}")
        for k in range(3)
        for c in ("field", "offline")
    ]
    two_models = rank_rows([*chain(*arms[:4])])
    assert all(r.over == "items" for r in two_models)
    rows = [
        r for r in rank_rows([*chain(*arms)]) if r.over == "models" and r.measure == "entropy_bits"
    ]
    assert [(r.model, r.tau_b, r.n_ranked, r.n_pairs) for r in rows] == [(None, 1.0, 3, 3)]
    assert rows[0].p_value == pytest.approx(1 / 3)


def test_distance_is_the_root_of_the_bits_and_scipys() -> None:
    answers = field_letters("AABBBCAAAA", item_id="a") + chosen(
        "ABCDDDDDDA", item_id="a", condition="offline"
    )
    (row,) = item_rows(answers, "a")
    p, q = [0.6, 0.3, 0.1, 0.0], [0.2, 0.1, 0.1, 0.6]
    assert row.js_distance == pytest.approx(jensenshannon(p, q, base=2))
    assert (row.field_top, row.field_top_share, row.predictor_top) == ("A", 0.6, "D")
    assert (row.is_same_top, row.n_field, row.n_predictor) == (False, 10, 10)
    assert row.option_tau_b is None


def test_a_prompt_that_falls_is_told_from_noise() -> None:
    widths = (40, *WIDTHS[1:])
    rows = {
        r.item_id: r for r in item_rows(lists_of(widths, "field") + lists_of(WIDTHS, "offline"))
    }
    assert (rows["i0"].rank_change or 0) >= 5
    p_holms = dict(zip(rows, holm([r.p_rank or 1 for r in rows.values()]), strict=True))
    assert p_holms["i0"] < 0.05
    alike = item_rows(lists_of(WIDTHS, "field") + lists_of(WIDTHS, "offline"))
    assert min(holm([r.p_rank or 0 for r in alike])) > 0.05


def sample(width: int, n: int, seed: int, puppets: bool) -> AnswerSample:
    source = random.Random(seed)
    options = [tuple(sorted(source.sample(OPTIONS[:width], 5))) for _ in range(n)]
    return AnswerSample(options, [f"p{k:03}" if puppets else "" for k in range(n)], None)


@pytest.mark.parametrize("puppets", [True, False])
def test_an_order_comes_back_as_far_as_there_is_one(puppets: bool) -> None:
    clear, none = (
        split_half_reliability(
            {str(i): sample(w, 40, i, puppets) for i, w in enumerate(widths)},
            *("entropy_bits",),
            seed=1,
            names=("x",),
        )
        for widths in ((6, 12, 20, 40), (12,) * 8)
    )
    assert (clear.whole or 0) > 0.95
    assert abs(none.whole or 0) < 0.6
    # halves are stepped up as Spearman and Brown do
    halves = clear.halves or 0
    assert clear.whole == pytest.approx(2 * halves / (1 + halves))
