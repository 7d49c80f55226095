"""Statistics of groups of participants when their labels are permuted.

Owns the shuffles and the statistics of each: the divergence between groups, each group's value at equal
n, and its difference from the mean of the other groups' values. A shuffle permutes the groups of
participants; a participant's answers to all items stay together. A row of an array is a shuffle, and
the first row is the observed one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.samples import indicator_of
from fieldwork.measures.lists import TOP, top5_share
from fieldwork.metrics.groups.table import GroupAnswers
from fieldwork.records.parsing import UNKNOWN
from fieldwork.statistics.arrays import Counts, Flags, Floats, Indices
from fieldwork.statistics.entropy import entropy_bits, k_log_k, plug_in_bits

N_ORDERS = 10
"""Subsamples of a larger group behind the statistic of a shuffle."""

_NOTHING = 1e-9


class Shuffles(NamedTuple):
    """Group numbers of participants, the observed ones first: shape (shuffles + 1, participants)."""

    participants: list[str]
    labels: Indices


class PromptAnswers(NamedTuple):
    """The answers to an item: places of their participants, and the options each names."""

    item: str
    places: Indices
    indicator: Counts


def shuffle_groups(
    answers: pd.DataFrame,
    groups: Sequence[str],
    *,
    n_permutations: int,
    random: np.random.Generator,
) -> Shuffles:
    """Groups permuted among whole participants; sizes of groups stay as they are."""
    participants = answers.drop_duplicates("puppet_id").sort_values("puppet_id")
    number = {group: k for k, group in enumerate(groups)}
    labels = np.array([number[group] for group in participants["group"]], dtype=np.int64)
    order = np.argsort(random.random((n_permutations, len(labels))), axis=1, kind="stable")
    return Shuffles(list(participants["puppet_id"]), np.vstack([labels[None, :], labels[order]]))


def read_prompt_answers(answers: GroupAnswers, participants: Sequence[str]) -> list[PromptAnswers]:
    """The answers that count, by item in alphabetical order."""
    place = {participant: number for number, participant in enumerate(participants)}
    return [
        PromptAnswers(
            str(item),
            np.array([place[p] for p in part["puppet_id"]], dtype=np.int64),
            indicator_of([options or (UNKNOWN,) for options in part["options"]]),
        )
        for item, part in answers.countable().groupby("item_id", sort=True)
    ]


def group_divergence(prompt: PromptAnswers, labels: Indices, n_groups: int) -> Floats:
    """Jensen-Shannon divergence of the groups' shares of mentions, weighted by their answers.

    H(sum w p) - sum w H(p) in bits, w the group's share of the answers (Lin 1991): one value a
    shuffle.
    """
    answer_groups = labels[:, prompt.places]
    indicator = prompt.indicator.astype(np.float32)
    mean_bits = np.zeros(len(labels))
    mean_shares = np.zeros((len(labels), indicator.shape[1]))
    for number in range(n_groups):
        member = answer_groups == number
        counts = np.rint(member.astype(np.float32) @ indicator).astype(np.int64)
        weight = member.sum(axis=1) / answer_groups.shape[1]
        has_answers = counts.sum(axis=1) > 0
        mean_bits[has_answers] += weight[has_answers] * plug_in_bits(counts[has_answers])
        total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
        mean_shares += weight[:, None] * counts / total
    divergence: Floats = np.maximum(entropy_bits(mean_shares) - mean_bits, 0.0)
    return divergence


def values_at_equal_n(
    prompt: PromptAnswers,
    labels: Indices,
    groups: Sequence[int],
    metrics: Sequence[str],
    random: np.random.Generator,
) -> dict[str, Floats]:
    """Each metric of each group at the size of the smallest, shape (shuffles, groups); NaN if empty."""
    answer_groups = labels[:, prompt.places]
    members = [answer_groups == number for number in groups]
    n = np.min([member.sum(axis=1) for member in members], axis=0)
    orders = np.argsort(random.random((N_ORDERS, len(prompt.places))), axis=1)
    by_group = [_mean_over_orders(prompt, member, n, metrics, orders) for member in members]
    return {metric: np.stack([values[metric] for values in by_group], axis=1) for metric in metrics}


def difference_from_others(values: Floats, place: int) -> Floats:
    """A group's value less the mean of the other groups', one a shuffle, from shape (shuffles, groups).

    Of the others' own values, not of all their answers together: groups that prefer other options vary
    more together than each of them does.
    """
    difference: Floats = values[:, place] - np.delete(values, place, axis=1).mean(axis=1)
    return difference


def _mean_over_orders(
    prompt: PromptAnswers, member: Flags, n: Indices, metrics: Sequence[str], orders: Indices
) -> dict[str, Floats]:
    """Mean of each metric over subsamples: the first n members in each of the orders.

    The orders are those of the participants and not of the shuffles, so that the statistic is one
    function of who is in the group.
    """
    indicator = prompt.indicator.astype(np.float32)
    # a group that is never larger is taken whole, in any order
    if (member.sum(axis=1) <= n).all():
        orders = orders[:1]
    means = {metric: np.zeros(len(member)) for metric in metrics}
    for order in orders:
        member_in_order = member[:, order]
        in_sample = member_in_order & (np.cumsum(member_in_order, axis=1) <= n[:, None])
        counts = np.rint(in_sample.astype(np.float32) @ indicator[order]).astype(np.int64)
        has_answers = counts.sum(axis=1) > 0
        for metric in metrics:
            values = np.full(len(member), np.nan)
            values[has_answers] = _measure(metric, counts[has_answers])
            means[metric] += values / len(orders)
    return means


def _measure(metric: str, counts: Counts) -> Floats:
    values: Floats = plug_in_bits(counts) if metric == "entropy_bits" else 1 - top5_share(counts)
    return values


def answer_influences(
    prompt: PromptAnswers, labels: Indices, groups: Sequence[int], metric: str
) -> Floats:
    """How far each answer moves the value of its own group: shape (shuffles, answers).

    Jackknife: the value without the answer less the mean of these, times root (n - 1) / n, so that
    squares add up to the variance of the group's value. Of the whole group, not of subsamples; the five
    commonest options are those of the whole group. 0 for answers of other groups.
    """
    answer_groups = labels[:, prompt.places]
    influences = np.zeros(answer_groups.shape)
    for number in groups:
        member = answer_groups == number
        values = _leave_one_out_values(prompt, member, metric)
        n = np.maximum(member.sum(axis=1, keepdims=True).astype(np.float64), 1.0)
        mean = np.where(member, values, 0.0).sum(axis=1, keepdims=True) / n
        influences += np.where(member, (values - mean) * np.sqrt((n - 1) / n), 0.0)
    return influences


def _leave_one_out_values(prompt: PromptAnswers, member: Flags, metric: str) -> Floats:
    """The group's value without each answer; 0 where nothing is left."""
    indicator = prompt.indicator.astype(np.float64)
    counts = np.rint(member.astype(np.float64) @ indicator).astype(np.int64)
    mentions = counts.sum(axis=1, keepdims=True) - indicator.sum(axis=1)[None, :]
    divisor = np.where(mentions > 0, mentions, 1.0)
    if metric == "entropy_bits":
        products = k_log_k(int(counts.max()))
        loss = products[counts] - products[np.maximum(counts - 1, 0)]
        remainder = products[counts].sum(axis=1, keepdims=True) - loss @ indicator.T
        values = np.log2(divisor) - remainder / divisor
    else:
        order = np.argsort(-counts, axis=1, kind="stable")[:, :TOP]
        top = np.zeros(counts.shape)
        np.put_along_axis(top, order, 1.0, axis=1)
        remainder = (counts * top).sum(axis=1, keepdims=True) - top @ indicator.T
        values = 1 - remainder / divisor
    values_or_zero: Floats = np.where(mentions > 0, values, 0.0)
    return values_or_zero


def studentize(difference: Floats, influences: Floats, member: Flags, n_groups: int) -> Floats:
    """A group's difference from the others in standard errors; infinite where the error is 0.

    `influences` and `member`, whether an answer or participant is the group's, have shape (shuffles,
    answers or participants). A value of the others counts by its part in their mean.
    """
    parts = influences * np.where(member, 1.0, 1.0 / (n_groups - 1))
    error = np.sqrt((parts**2).sum(axis=1))
    ratio = np.where(np.abs(difference) < _NOTHING, 0.0, np.copysign(np.inf, difference))
    np.divide(difference, error, out=ratio, where=error > _NOTHING)
    ratio[np.isnan(difference)] = np.nan
    return ratio


def group_shares(labels: Indices, groups: Sequence[int], marks: Floats) -> Floats:
    """Share of marked answers of each group: shape (shuffles, groups), NaN where one is empty.

    `labels` has shape (shuffles, answers), `marks` (answers,).
    """
    members = [labels == number for number in groups]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([(m.astype(np.float64) @ marks) / m.sum(axis=1) for m in members], axis=1)
