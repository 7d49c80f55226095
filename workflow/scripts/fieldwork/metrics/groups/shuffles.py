"""Statistics of groups of participants when their labels are dealt anew.

Owns the shuffles, and the values of each of them: the divergence between groups, each group's value at
equal n, and how far it is from the mean of the other groups' values. What is shuffled is the group of a
participant, whose answers to all items go along; a row of an array is a shuffle, the first the groups
as they are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.answer_sets import indicator_of
from fieldwork.metrics.groups.table import Block
from fieldwork.metrics.heterogeneity import TOP, top5_share
from fieldwork.records.parsing import UNKNOWN
from fieldwork.statistics.arrays import Counts, Flags, Floats, Indices
from fieldwork.statistics.entropy import entropy_bits, k_log_k, plug_in_bits

N_ORDERS = 10
"""Subsamples of a larger group behind the statistic of a shuffle."""

_NOTHING = 1e-9


class Shuffles(NamedTuple):
    """Group numbers of participants, the observed ones first: shape (shuffles + 1, participants)."""

    who: list[str]
    labels: Indices


class Prompt(NamedTuple):
    """The answers to an item: places of their participants, and the options each names."""

    item: str
    who: Indices
    indicator: Counts


def shuffle(
    own: pd.DataFrame, groups: Sequence[str], *, n_permutations: int, random: np.random.Generator
) -> Shuffles:
    """Groups dealt anew to whole participants; sizes of groups stay as they are."""
    group_of = own.drop_duplicates("puppet_id").sort_values("puppet_id")
    place = {group: number for number, group in enumerate(groups)}
    labels = np.array([place[g] for g in group_of["group"]], dtype=np.int64)
    order = np.argsort(random.random((n_permutations, len(labels))), axis=1, kind="stable")
    return Shuffles(list(group_of["puppet_id"]), np.vstack([labels[None, :], labels[order]]))


def read_prompts(block: Block, who: Sequence[str]) -> list[Prompt]:
    """The answers that count, by item in alphabetical order."""
    place = {participant: number for number, participant in enumerate(who)}
    own = block.answers
    counted = own if block.kind == "choice" else own[~own["is_unread"]]
    return [
        Prompt(
            str(item),
            np.array([place[p] for p in part["puppet_id"]], dtype=np.int64),
            indicator_of([options or (UNKNOWN,) for options in part["options"]]),
        )
        for item, part in counted.groupby("item_id", sort=True)
    ]


def divergence_between(prompt: Prompt, labels: Indices, n_groups: int) -> Floats:
    """Jensen-Shannon divergence of the groups' shares of mentions, weighted by their answers.

    H(sum w p) - sum w H(p) in bits, w the group's share of the answers (Lin 1991): one value a
    shuffle.
    """
    own = labels[:, prompt.who]
    indicator = prompt.indicator.astype(np.float32)
    inner = np.zeros(len(labels))
    pooled = np.zeros((len(labels), indicator.shape[1]))
    for number in range(n_groups):
        member = own == number
        counts = np.rint(member.astype(np.float32) @ indicator).astype(np.int64)
        weight = member.sum(axis=1) / own.shape[1]
        some = counts.sum(axis=1) > 0
        inner[some] += weight[some] * plug_in_bits(counts[some])
        total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
        pooled += weight[:, None] * counts / total
    divergence: Floats = np.maximum(entropy_bits(pooled) - inner, 0.0)
    return divergence


def varied_values(
    prompt: Prompt,
    labels: Indices,
    groups: Sequence[int],
    metrics: Sequence[str],
    random: np.random.Generator,
) -> dict[str, Floats]:
    """Each metric of each group at the size of the smallest, shape (shuffles, groups); NaN if empty."""
    own = labels[:, prompt.who]
    members = [own == number for number in groups]
    n = np.min([member.sum(axis=1) for member in members], axis=0)
    orders = np.argsort(random.random((N_ORDERS, len(prompt.who))), axis=1)
    found = [_at_equal_n(prompt, member, n, metrics, orders) for member in members]
    return {metric: np.stack([one[metric] for one in found], axis=1) for metric in metrics}


def from_others(values: Floats, place: int) -> Floats:
    """A group's value less the mean of the other groups': one a shuffle, of shape (shuffles, groups).

    Of the others' own values, not of all their answers together: groups that prefer other options vary
    more together than each of them does.
    """
    difference: Floats = values[:, place] - np.delete(values, place, axis=1).mean(axis=1)
    return difference


def _at_equal_n(
    prompt: Prompt, member: Flags, n: Indices, metrics: Sequence[str], orders: Indices
) -> dict[str, Floats]:
    """Mean of each metric over subsamples: the first n members in each of the orders.

    The orders are those of the participants and not of the shuffles, so that the statistic is one
    function of who is in the group.
    """
    indicator = prompt.indicator.astype(np.float32)
    # a group that is never larger is taken whole, in any order
    if (member.sum(axis=1) <= n).all():
        orders = orders[:1]
    found = {metric: np.zeros(len(member)) for metric in metrics}
    for order in orders:
        placed = member[:, order]
        taken = placed & (np.cumsum(placed, axis=1) <= n[:, None])
        counts = np.rint(taken.astype(np.float32) @ indicator[order]).astype(np.int64)
        some = counts.sum(axis=1) > 0
        for metric in metrics:
            values = np.full(len(member), np.nan)
            values[some] = _metric(metric, counts[some])
            found[metric] += values / len(orders)
    return found


def _metric(metric: str, counts: Counts) -> Floats:
    values: Floats = plug_in_bits(counts) if metric == "entropy_bits" else 1 - top5_share(counts)
    return values


def moves(prompt: Prompt, labels: Indices, groups: Sequence[int], metric: str) -> Floats:
    """How far each answer moves the value of its own group: shape (shuffles, answers).

    Jackknife: the value without the answer less the mean of these, times root (n - 1) / n, so that
    squares add up to the variance of the group's value. Of the whole group, not of subsamples; the five
    commonest options are those of the whole group. 0 for answers of no group.
    """
    own = labels[:, prompt.who]
    moved = np.zeros(own.shape)
    for number in groups:
        member = own == number
        left_out = _left_out(prompt, member, metric)
        n = member.sum(axis=1, keepdims=True).astype(np.float64)
        some = np.maximum(n, 1.0)
        mean = np.where(member, left_out, 0.0).sum(axis=1, keepdims=True) / some
        moved += np.where(member, (left_out - mean) * np.sqrt((some - 1) / some), 0.0)
    return moved


def _left_out(prompt: Prompt, member: Flags, metric: str) -> Floats:
    """The group's value without each answer; 0 where nothing is left."""
    indicator = prompt.indicator.astype(np.float64)
    counts = np.rint(member.astype(np.float64) @ indicator).astype(np.int64)
    mentions = counts.sum(axis=1, keepdims=True) - indicator.sum(axis=1)[None, :]
    rest = np.where(mentions > 0, mentions, 1.0)
    if metric == "entropy_bits":
        products = k_log_k(int(counts.max()))
        lost = products[counts] - products[np.maximum(counts - 1, 0)]
        left = products[counts].sum(axis=1, keepdims=True) - lost @ indicator.T
        values = np.log2(rest) - left / rest
    else:
        order = np.argsort(-counts, axis=1, kind="stable")[:, :TOP]
        top = np.zeros(counts.shape)
        np.put_along_axis(top, order, 1.0, axis=1)
        values = 1 - ((counts * top).sum(axis=1, keepdims=True) - top @ indicator.T) / rest
    known: Floats = np.where(mentions > 0, values, 0.0)
    return known


def studentized(difference: Floats, moved: Floats, own: Flags, n_groups: int) -> Floats:
    """A group's difference from the others in standard errors; infinite where nothing moves it but 0.

    `moved` and `own`, whether it is the group's, have shape (shuffles, answers or participants). A value
    of the others counts by its part in their mean.
    """
    error = np.sqrt(((moved * np.where(own, 1.0, 1.0 / (n_groups - 1))) ** 2).sum(axis=1))
    ratio = np.where(np.abs(difference) < _NOTHING, 0.0, np.copysign(np.inf, difference))
    np.divide(difference, error, out=ratio, where=error > _NOTHING)
    ratio[np.isnan(difference)] = np.nan
    return ratio


def shares(labels: Indices, groups: Sequence[int], marks: Floats) -> Floats:
    """Share of marked answers of each group: shape (shuffles, groups), NaN where one is empty.

    `labels` has shape (shuffles, answers), `marks` (answers,).
    """
    members = [labels == number for number in groups]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([(m.astype(np.float64) @ marks) / m.sum(axis=1) for m in members], axis=1)
