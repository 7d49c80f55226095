"""The answers that an estimate counts: of each user the first to a prompt, and of nobody all.

Owns how tables of answers are read for measures. Responses that failed are no data. Of a user's answers
to a prompt the first counts that has what a measure takes. Where every answer to a prompt states how
probable each letter was, all of them count, as the mean of their probabilities. Promises an order that
does not depend on the order of the rows.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import (
    ROUNDING,
    Arm,
    ItemAnswers,
    Options,
    StatedShares,
    read_answer_sets,
)
from fieldwork.records.field import FIELD
from fieldwork.records.tasks import LETTER_KINDS
from fieldwork.statistics.arrays import Counts, Floats, Indices


class OptionSample(NamedTuple):
    """Answers to one prompt that count, in an order of their own.

    Attributes:
        users: who gave them, empty texts without users.
        n_unread: answers that give no option.
        n_without: of these, those that are left out, as they are no answer by letter.
        shares: the probabilities of the letters, shape (answers, letters); None where the options count.
    """

    options: list[Options]
    users: list[str]
    n_unread: int
    n_without: int = 0
    shares: Floats | None = None

    def indicator(self) -> Counts:
        """Which answer names which option: shape (answers, options), options in alphabetical order."""
        return indicator_of(self.options)

    def n_equal(self, smallest: int) -> int:
        """Answers behind its value, where the smallest sample has so many.

        Of probabilities all count: no letter is drawn, so that sides need no equal n.
        """
        return smallest if self.shares is None else len(self.shares)


class NumberSample(NamedTuple):
    """Numbers of the answers of an arm that count, one entry an answer.

    Attributes:
        items, units: numbers of prompts and units; without users each answer is a unit.
        item_names: of the prompts, by their numbers.
        n_without: answers that count and have no number.
        n_truncated: answers that were cut off; None of a table that does not say.
        run_size: prompts behind each number where it is that of a whole run; None of single answers.
        n_unstated: answers behind the numbers that state no probabilities and count as drawn; None where
            the numbers are made of no probabilities.
        slack: how far their mean may lie on either side, as answers do not list all letters.
    """

    values: Floats
    items: Indices
    units: Indices
    item_names: list[str]
    has_users: bool
    n_without: int
    n_truncated: int | None
    run_size: int | None = None
    n_unstated: int | None = None
    slack: float = 0.0

    def at(self, names: Sequence[str]) -> "NumberSample":
        """The numbers of some prompts."""
        if len(names) == len(self.item_names):
            return self
        places = {name: k for k, name in enumerate(self.item_names) if name in set(names)}
        is_in = np.isin(self.items, [*places.values()])
        return self._replace(
            values=self.values[is_in],
            items=np.unique(self.items[is_in], return_inverse=True)[1].astype(np.int64),
            units=np.unique(self.units[is_in], return_inverse=True)[1].astype(np.int64),
            item_names=[*places],
        )


def indicator_of(answers: Sequence[Options]) -> Counts:
    """Which answer names which option: shape (answers, options), options in alphabetical order."""
    columns = {name: k for k, name in enumerate(sorted({n for names in answers for n in names}))}
    indicator = np.zeros((len(answers), len(columns)), dtype=np.int64)
    for row, names in enumerate(answers):
        indicator[row, [columns[name] for name in names]] = 1
    return indicator


def option_samples(answers: pd.DataFrame) -> dict[Arm, dict[str, OptionSample]]:
    """Samples by arm and prompt, both in alphabetical order.

    A prompt of which nothing arrived is there without answers. A letter that cannot be read is the option
    `unknown`; a list without an option is left out. Probabilities count where all conditions of a model
    state those of all letters of a prompt, so that no drawn answers are compared with them.
    """
    answer_sets = read_answer_sets(answers)
    letter_shares = _comparable_shares(answer_sets)
    arms: dict[Arm, dict[str, OptionSample]] = {}
    for arm, items in answer_sets.items():
        samples = arms.setdefault(arm._replace(kind=None), {})
        for item, of_item in items.items():
            n_unread = of_item.n_unread
            n_without = 0 if arm.kind in LETTER_KINDS else n_unread
            shares = letter_shares.get((arm, item))
            firsts = [(answer.options, answer.puppet) for answer in of_item.first_answers()]
            if shares is None:
                firsts.sort()
            options, users = [names for names, _ in firsts], [user for _, user in firsts]
            samples[item] = OptionSample(
                options, users, n_unread, n_without, shares and shares.shares
            )
    return {arm: dict(sorted(arms[arm].items())) for arm in sorted(arms)}


def _comparable_shares(
    answer_sets: Mapping[Arm, Mapping[str, ItemAnswers]],
) -> dict[tuple[Arm, str], StatedShares]:
    """Probabilities by arm and prompt, of prompts of which every condition states all letters."""
    letter_shares: dict[tuple[Arm, str], StatedShares] = {}
    drawn_prompts: set[tuple[tuple[str, str], str]] = set()
    for arm, items in answer_sets.items():
        for item, of_item in items.items():
            shares = of_item.stated_shares() if arm.kind in LETTER_KINDS else None
            if shares and float(shares.unlisted_share.max()) <= ROUNDING:
                letter_shares[arm, item] = shares
            elif of_item.answers and arm.condition != FIELD:
                drawn_prompts.add((arm.family, item))
    return {
        (arm, item): shares
        for (arm, item), shares in letter_shares.items()
        if (arm.family, item) not in drawn_prompts
    }


def number_frames(rows: pd.DataFrame) -> Iterator[tuple[Arm, pd.DataFrame]]:
    """Rows by arm, as `number_samples` takes them; none of an arm of which nothing arrived.

    A run is an answer to its task as a whole. Several runs of one single user differ as reruns do.
    """
    for names, frame in rows.groupby(["model", "task", "condition"], sort=True):
        if "outcome" in frame:
            frame = frame[frame["outcome"] != "failed"]
        if "run" in frame:
            users = frame["puppet_id"]
            is_one_user = len(frame) > 1 and users.nunique(dropna=False) == 1
            frame = frame.assign(item_id=frame["task"], puppet_id=None if is_one_user else users)
        model, task, condition = map(str, names)
        sorted_frame = frame.sort_values(["item_id", "puppet_id", "replicate"])
        yield Arm.of(model, task, condition), sorted_frame


def split_groups(
    arms: Mapping[Arm, pd.DataFrame], participants: pd.DataFrame
) -> Iterator[tuple[Arm, pd.DataFrame]]:
    """The rows of each group of each variable; a participant without a group is in none.

    Args:
        participants: rows of `field/participants`.
    """
    for variable, members in participants.groupby("variable"):
        group_of = dict(zip(members["participant_id"], members["group"], strict=True))
        for arm, frame in arms.items():
            for group, rows in frame.groupby(frame["puppet_id"].map(group_of)):
                yield arm._replace(variable=str(variable), group=str(group)), rows


def number_samples(
    frame: pd.DataFrame, columns: Sequence[str], of_probabilities: Collection[str] = ()
) -> dict[str, NumberSample]:
    """Columns of the rows of an arm, which are in order of prompt, user and replicate.

    Args:
        of_probabilities: columns that are made of probabilities, where a row's answers state them.
    """
    is_user = frame["puppet_id"].notna().to_numpy()
    has_users = bool(is_user.any())
    items, item_names = pd.factorize(frame["item_id"], sort=True)
    users = pd.factorize(frame["puppet_id"])[0]
    # answers of nobody are each their own
    pairs = np.where(is_user, users * len(item_names) + items, -1 - np.arange(len(frame)))
    firsts = np.unique(pairs, return_index=True)[1]
    n_truncated = None
    if "is_truncated" in frame:
        n_truncated = int(frame["is_truncated"].to_numpy(dtype=bool)[firsts].sum())
    is_of_run = "run" in frame
    counts = frame["is_counted"].to_numpy(dtype=bool) if is_of_run else True
    n_unstated = (
        (frame["n_items"] - frame["n_stated"]).to_numpy() if of_probabilities else np.empty(0)
    )
    rests = np.zeros(len(frame))
    if of_probabilities:
        rests = frame["unlisted_share"].to_numpy(dtype=float)
    samples = {}
    for column in columns:
        numbers = frame[column].to_numpy(dtype=float, na_value=np.nan)
        places = np.flatnonzero(~np.isnan(numbers) & counts)
        rows = places[np.sort(np.unique(pairs[places], return_index=True)[1])]
        own_items, item_codes = np.unique(items[rows], return_inverse=True)
        units = np.unique(users[rows], return_inverse=True)[1] if has_users else range(len(rows))
        samples[column] = NumberSample(
            numbers[rows],
            item_codes.astype(np.int64),
            np.array(units, dtype=np.int64),
            [str(item_names[item]) for item in own_items],
            has_users,
            len(firsts) - len(rows),
            n_truncated,
            int(frame["n_items"].max()) if is_of_run else None,
            int(n_unstated[rows].sum()) if column in of_probabilities else None,
            float(rests[rows].mean()) if column in of_probabilities and len(rows) else 0.0,
        )
    return samples
