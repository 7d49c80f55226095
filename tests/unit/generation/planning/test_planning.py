"""Loads, times and costs of small studies, counted by hand."""

from datetime import date
from typing import Any

import pytest
from plan_cases import CACHE as CACHE_SETTINGS
from plan_cases import OPENAI as ENTRY

from fieldwork.generation.planning.loads import (
    NOTHING_OBSERVED,
    CacheRules,
    Load,
    ObservedTokens,
    PlannedGroup,
    PlannedQuestion,
    cache_of,
    duration,
    load_of,
    observe_tokens,
    questions_of,
)
from fieldwork.generation.planning.rows import PlannedArm, plan_rows
from fieldwork.generation.pricing import Price

CACHE = CacheRules(**CACHE_SETTINGS)
MARKED = CACHE._replace(breakpoint=True)
TEN = PlannedQuestion(10)
PRICE = Price(1.0, 0.5, 1.0, 4.0, date(2026, 11, 1), "test")
OPENAI = {**ENTRY, "dispatch": "flex"}


@pytest.mark.parametrize(
    ("prefix", "n", "cache", "cached"),
    [
        (1024, 1, CACHE, 0),
        (1024, 3, CACHE, 2 * 1024),
        (1023, 3, CACHE, 0),
        (1151, 3, CACHE, 2 * 1024),
        (1152, 3, CACHE, 2 * 1152),
        (1151, 3, MARKED, 2 * 1151),
        (1024, 3, None, 0),
        (0, 3, CACHE, 0),
        # dead after half a minute: each minute's 15 begin with a cold one
        (1024, 31, CACHE._replace(ttl_s=30), (31 - 3) * 1024),
        (1024, 31, CACHE._replace(ttl_s=30, requests_per_minute=None), 30 * 1024),
    ],
)
def test_what_the_cache_serves(prefix: int, n: int, cache: CacheRules | None, cached: int) -> None:
    load = load_of([PlannedGroup(prefix, (TEN,) * n)], cache, 0.25)
    assert load.cached_tokens == cached
    assert (load.prefix_tokens, load.question_tokens, load.n_requests) == (prefix * n, 10 * n, n)


def test_common_beginnings_are_found_in_any_order_and_late_in_a_wave() -> None:
    prompts = ["shared words, b" * 3, "other", "shared words, a" * 3, "other"]
    questions = questions_of(prompts)
    # 14 equal bytes are 3 tokens, and 4 open the message
    assert [q.shared_tokens for q in questions] == [0, 4, 4 + 14 // 4, questions[1].tokens]
    # the first is answered before the others are sent; those of its own wave are not
    assert [q.warm_tokens for q in questions] == [0, 4, 4 + 14 // 4, 4]


@pytest.mark.parametrize(
    ("changes", "cache", "seconds", "limit"),
    [
        ({}, None, 50, "4 calls at a time"),
        ({"requests_per_minute": 50.0}, None, 120, "50 requests a minute"),
        ({"tokens_per_minute": 3000.0}, None, 60, "tokens a minute"),
        ({}, CACHE, 2 * 60 + 4, "15 requests a minute after one context"),
        ({}, CACHE._replace(requests_per_minute=None), 50, "calls at a time"),
    ],
)
def test_the_tightest_limit_sets_the_time(
    changes: dict[str, Any], cache: CacheRules | None, seconds: float, limit: str
) -> None:
    load = Load(100, 3, prefix_tokens=1000, question_tokens=1000, longest_group=40)
    time = duration(load, 1000, {"concurrency": 4, **changes}, 2.0, cache)
    assert time.seconds == pytest.approx(seconds)
    assert limit in time.limited_by


def arm(*groups: PlannedGroup, n_answered: int = 0) -> PlannedArm:
    n = sum(len(group.questions) for group in groups) + n_answered
    return PlannedArm("m", "t", "c", "tables", groups, 2.0, 5, n, n_answered)


def test_costs_of_a_small_study_by_hand() -> None:
    groups = arm(PlannedGroup(2000, (TEN,) * 4))
    rows = {row.dispatch: row for row in plan_rows(groups, OPENAI, PRICE, NOTHING_OBSERVED, 2)}
    chosen = {name: row.is_chosen for name, row in rows.items()}
    assert chosen == {"live": False, "flex": True, "batch": False}
    live = rows["live"]
    # 4 x 2010 tokens in, 4 x 2 out, 3 x 1920 of them (15 steps of 128) at half the price
    assert live.cost_no_cache_usd == pytest.approx((8040 + 8 * 4) / 1e6)
    assert live.cost_expected_usd == pytest.approx((8040 - 5760 / 2 + 8 * 4) / 1e6)
    assert live.cost_ideal_usd == pytest.approx((8040 - 6000 / 2 + 8 * 4) / 1e6)
    assert live.cost_most_usd == pytest.approx((8040 + 20 * 4) / 1e6)
    assert rows["flex"].cost_expected_usd == pytest.approx((live.cost_expected_usd or 0) / 2)
    assert rows["batch"].cost_expected_usd == pytest.approx((live.cost_no_cache_usd or 0) / 2)
    assert rows["batch"].minutes is None
    assert live.cache_write_tokens == 0


def test_anthropic_writes_contexts_alone_and_has_two_ways_of_dispatch() -> None:
    rules = {name: OPENAI["prefix_cache"][name] for name in ("min_tokens", "ttl_s")}
    model = {**OPENAI, "provider": "anthropic", "dispatch": "live"}
    model["prefix_cache"] = {**rules, "requests_per_minute": None}
    fee = PRICE._replace(cache_read=0.1, cache_write=1.25)
    rows = plan_rows(arm(PlannedGroup(2000, (TEN,) * 2)), model, fee, NOTHING_OBSERVED, 2)
    assert [row.dispatch for row in rows] == ["live", "batch"]
    assert (rows[0].cached_tokens, rows[0].cache_write_tokens) == (2000, 2000)
    assert rows[0].cost_expected_usd == pytest.approx((2000 * 1.35 + 20 + 16) / 1e6)
    assert rows[1].cache_write_tokens == 0


GEMINI = {**OPENAI, "provider": "gemini", "dispatch": "live", "explicit_cache": True}
GEMINI |= {"cache_ttl_s": 1800}


@pytest.mark.parametrize(
    ("prefix", "storage", "stored", "caching"),
    [
        # made once as input; kept half an hour at 3 dollars a million and hour
        (2000, 3.0, 2000, (2000 * 1.0 + 1000 * 3.0) / 1e6),
        (2000, 0.0, 2000, 2000 / 1e6),
        # no price for it: what is known is counted, and the row says what is not
        (2000, None, 2000, 2000 / 1e6),
        # too short to be stored
        (1000, 3.0, 0, 0.0),
    ],
)
def test_contexts_left_with_the_provider_are_billed_once_and_by_the_hour(
    prefix: int, storage: float | None, stored: int, caching: float
) -> None:
    price = PRICE._replace(cache_storage=storage)
    rows = plan_rows(arm(PlannedGroup(prefix, (TEN,) * 4)), GEMINI, price, NOTHING_OBSERVED, 2)
    live, batch = rows[0], rows[-1]
    assert (live.stored_tokens, live.stored_token_hours) == (stored, stored / 2)
    # every question reads the context, the first one too
    assert live.cached_tokens == 4 * stored
    plain = (4 * prefix + 40 + 8 * 4) / 1e6
    expected = plain - 4 * stored * 0.5 / 1e6 + caching
    assert live.cost_no_cache_usd == pytest.approx(plain)
    assert live.cost_expected_usd == pytest.approx(expected)
    assert live.cost_most_usd == pytest.approx((4 * prefix + 40 + 20 * 4) / 1e6 + caching)
    ideal, most = live.cost_ideal_usd or 0, live.cost_most_usd or 0
    assert ideal <= expected + 1e-12 <= most + 1e-11
    assert (live.reason is not None) == (storage is None)
    assert (batch.stored_tokens, batch.reason) == (0, None)


@pytest.mark.parametrize(
    ("changes", "dispatch", "is_expected"),
    [
        ({}, "live", True),
        ({}, "batch", False),
        ({"prefix_cache": None}, "live", False),
        ({"requests_per_minute": 0.1}, "live", False),
        ({"provider": "gemini", "explicit_cache": False}, "live", False),
        ({"provider": "gemini", "explicit_cache": True, "cache_ttl_s": 3600}, "live", True),
        ({"provider": "embedded"}, "live", True),
    ],
)
def test_when_a_cache_is_counted_on(
    changes: dict[str, Any], dispatch: Any, is_expected: bool
) -> None:
    assert (cache_of({**OPENAI, **changes}, dispatch) is not None) == is_expected


def test_answers_correct_the_estimate() -> None:
    assert observe_tokens([], [], {}) == NOTHING_OBSERVED == ObservedTokens(0.25, {})
    tokens = observe_tokens([100, 300], [120, 360], {"t": [2, 4], "u": []})
    assert tokens == ObservedTokens(0.3, {"t": 3.0})
