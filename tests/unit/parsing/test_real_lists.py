"""Lists and names of real answers: precision and recall by class. `pytest -s` prints the table.

Some classes have an oracle: real answers are changed so that what they should give is known, or are so
plain that a reader of one line reads them, too. The truth of others is a person's: `labels/` holds hashes
of real texts and what a person who read them said. What is asserted lies a little below
benchmarks/parsing.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import pytest
from real_texts import (
    DATA,
    TOP_FIVE,
    Pairs,
    Tally,
    digest,
    labels,
    messages,
    needs_real_texts,
    part_of,
    require,
    rows,
    tally,
)

from fieldwork.parsing.canonical import canonicalise
from fieldwork.parsing.lists import ParsedList, parse_list

pytestmark = needs_real_texts
Names = tuple[str, ...]


@cache
def readings() -> dict[str, ParsedList]:
    """All answers to nine questions for five names, as they are read."""
    return {row["response"]: parse_list(row["response"]) for row in rows(TOP_FIVE)}


@cache
def top_five() -> list[tuple[str, Names]]:
    """Every third answer that is read as five names."""
    texts = sorted(text for text in readings() if text)[::3]
    listings = ((text, readings()[text].items) for text in texts if "<think" not in text)
    return [(text, items) for text, items in listings if items and len(set(items)) == 5]


@cache
def all_names() -> list[str]:
    return sorted({name for _, names in top_five() for name in names if name.isascii()})


# ---- oracles ------------------------------------------------------------------------------------------


def is_plain(name: str) -> bool:
    return len(name.split()) <= 8 and '"' not in name


def items_of(text: str, length: int | None = None) -> Names | None:
    return parse_list(text, expected_length=length).items


def first_of(text: str, length: int | None = None) -> str | None:
    return next(iter(items_of(text, length) or ()), None)


def each_name(text: str, names: Names) -> Pairs:
    read = items_of(text) or ()
    return [
        (read[place] if len(read) == len(names) else None, name) for place, name in enumerate(names)
    ]


def names_in_a_form(form: str, case: int) -> Pairs:
    """Real answers with each name in another form, where all names can be located."""
    pairs: Pairs = []
    for text, names in part_of(top_five(), case):
        parts: list[str] = []
        place = 0
        for name in names:
            start = text.find(name, place)
            if start < 0:
                break
            parts += [text[place:start], form.format(name)]
            place = start + len(name)
        else:
            pairs += each_name("".join([*parts, text[place:]]), names)
    return pairs


def numbered_names(form: str, case: int) -> Pairs:
    pairs: Pairs = []
    for _, names in part_of(top_five(), case):
        text = "\n".join(f"{n}. {form.format(name)}" for n, name in enumerate(names, 1))
        pairs += each_name(text, names)
    return pairs


def lone_first_entry(form: str, case: int) -> Pairs:
    first_names = [names[0] for _, names in part_of(top_five(), case)]
    return [(first_of(form.format(name)), name) for name in first_names]


def titles_of_two_lines(expected_length: int) -> Callable[[str, int], Pairs]:
    def titles(form: str, case: int) -> Pairs:
        two = (names[:2] for _, names in part_of(top_five(), case) if all(map(is_plain, names[:2])))
        return [(items_of("\n".join(map(form.format, n)), expected_length), n) for n in two]

    return titles


def one_name(form: str, case: int) -> Pairs:
    """What is set off is read; a bare name of many words needs capitals, or it may be a sentence."""
    names = filter(is_plain, part_of(all_names(), case))
    return [(first_of(form.format(name), 1), name) for name in names]


def bare_lines(length: int) -> Callable[[str, int], Pairs]:
    def lines(form: str, case: int) -> Pairs:
        """The names of real answers, one a line without a marker, among sentences."""
        pairs: Pairs = []
        for _, names in part_of(top_five(), case):
            if all(len(name.split()) <= 8 for name in names):
                lines = "\n".join(map(form.format, names[:length]))
                text = f"I thought about this.\n\n{lines}\n\nI hope that it helps."
                pairs.append((items_of(text, length), names[:length]))
        return pairs

    return lines


def is_one_name(first: str, second: str) -> bool:
    merges = canonicalise({first: 2, second: 1}, aliases={}, overrides={})
    return len({merge.canonical for merge in merges.values()}) == 1


def sequels(form: str, case: int) -> Pairs:
    """A name and its sequel are never one."""
    names = part_of(all_names(), case)
    return [("same" if is_one_name(name, form.format(name)) else None, None) for name in names]


class Oracle(NamedTuple):
    """Readings beside their truth by form, and the least of them, of their precision and recall."""

    name: str
    pairs: Callable[[str, int], Pairs]
    forms: list[str]
    n: int
    precision: float = 0.99
    recall: float = 0.99


YEARS = [
    *('"{} (1999)"', '"{}" (1999)', "“{} (1999)”", "«{}» (1999)", "{} (1999)", '"{}, 1999"'),
    '"{} - 1999"',
]
SET_OFF = ['"{}" by Ann Lee', "**{}** - fine", "*{}* (2001)", '"{}"']
ONE_NAME = ['"{}" by Ann Lee.', "I would choose **{}**, as it is fine.", "- {}"]
UNMARKED_NAME = ["Answer: {}", "My favourite is {}.", "{}"]
SEQUELS = ["{} 2", "{} II", "{}: Part Two", "{} III", "{} 2024"]
ORACLES = [
    Oracle("years in names", names_in_a_form, YEARS, 1_200, 0.98, 0.98),
    Oracle("quotes that nothing closes", numbered_names, ['"{}', '{}"', "“{}", "{}”"], 1_200),
    Oracle("a lone first entry", lone_first_entry, ["1. {}", "1. **{}**", "1) {}", "**1. {}**"], 300),
    *(
        Oracle(f"titles set off, {length} asked for", titles_of_two_lines(length), SET_OFF, 300)
        for length in (3, 10)
    ),
    Oracle("one name", one_name, ONE_NAME, 400, 0.98),
    Oracle("one name without marks", one_name, UNMARKED_NAME, 400, 0.98, 0.96),
    *(
        Oracle(f"bare lines, {length} asked for", bare_lines(length), ["{}", '"{}"'], 200, 0.98, 0.98)
        for length in (3, 5)
    ),
    Oracle("sequels", sequels, SEQUELS, 400),
]  # fmt: skip


@pytest.mark.parametrize(
    ("oracle", "case"), [(oracle, k) for oracle in ORACLES for k in range(len(oracle.forms))]
)
def test_names_whose_truth_is_built_in(oracle: Oracle, case: int) -> None:
    form = oracle.forms[case]
    result = tally(f"{oracle.name}, {form}", oracle.pairs(form, case))
    assert result.n > oracle.n
    assert result.wrong <= (1 - oracle.precision) * (result.right + result.wrong)
    assert result.missing <= (1 - oracle.recall) * (result.right + result.missing)


def test_replies_of_chats_that_answer_no_question_for_one_name() -> None:
    texts = part_of(sorted(messages(of_assistant=True).values())[::10])
    single_names = [text for text in texts if len(items_of(text, 1) or ()) == 1]
    print(f"\none name in replies of chats: {len(single_names)} of {len(texts)}")
    assert len(single_names) < 0.1 * len(texts)


def test_what_and_joins_is_one_name_in_either_order() -> None:
    pairs: Pairs = []
    for name in all_names():
        parts = name.split(" and ")
        if len(parts) == 2 and all(part.count(" ") < 2 and "," not in part for part in parts):
            same = is_one_name(name, f"{parts[1]} and {parts[0]}")
            pairs.append(("same" if same else None, "same"))
    require("'A and B', turned round", pairs, n=100, recall=0.9)


@pytest.mark.parametrize("second_heading", ["**Luxury:**", "**Tips:**"])
def test_lists_under_headings(second_heading: str) -> None:
    """Two real lists under headings are one answer; a list of five under 'Tips' is none of it."""
    pairs: Pairs = []
    listings = [names for _, names in top_five()]
    for first, second in zip(listings[::2], listings[1::2], strict=False):
        head, tail = ("\n".join(f"- {name}" for name in names) for names in (first[:3], second))
        text = f"**Budget:**\n{head}\n\n{second_heading}\n{tail}"
        truth = first[:3] if "Tips" in second_heading else (*first[:3], *second)
        if not set(map(str.casefold, first)) & set(map(str.casefold, second)):
            pairs.append((parse_list(text).items, truth))
    require(f"lists under headings, {second_heading}", pairs, n=500, precision=0.97, recall=0.97)


def test_rankings_of_eight() -> None:
    """All eight candidates in the order in which the reply writes them first."""
    pairs: Pairs = []
    rankings = rows(DATA / "hiring" / "bloomberg_resume_rankings_gpt35_2jobs.parquet")
    for row in part_of(rankings):
        text = row["response"].casefold()
        places = {name.casefold(): text.find(name.casefold()) for name in row["names"]}
        if -1 not in places.values():
            items = parse_list(row["response"], expected_length=8).items or ()
            names = dict.fromkeys(item.casefold() for item in items)
            ranking = tuple(name for name in names if name in places)
            pairs.append((ranking or None, tuple(sorted(places, key=places.__getitem__))))
    require("rankings of eight", pairs, n=340, precision=0.99, recall=0.99)


def cuts(seed: int) -> Iterator[tuple[str, Names]]:
    """Real answers cut off within or after a name, and the names that are whole before the cut."""
    chance = random.Random(seed)
    for text, names in top_five():
        starts: list[int] = []
        for name in names:
            starts.append(text.find(name, starts[-1] + 1 if starts else 0))
        if -1 in starts or starts != sorted(starts):
            continue
        k = chance.randrange(1, 5)
        end = starts[k] + len(names[k])
        cut = chance.choice(
            [chance.randrange(starts[k] + 1, end + 1), end + chance.randrange(1, 60)]
        )
        yield text[:cut], names[: k + (cut > end)]


def test_truncated_answers() -> None:
    """Each name on its own: no half one, and every whole one but the last, which may go either way.

    What is missing are refusals with advice, which are refusals once they are no list of five.
    """
    right = wrong = missing = n = 0
    for text, names in cuts(seed=1):
        items = parse_list(text, is_truncated=True).items or ()
        whole = set(names[:-1])
        n += 1
        right += len(whole & set(items))
        missing += len(whole - set(items))
        wrong += len(set(items) - set(names))
    result = Tally(n, right, wrong, missing)
    print(f"\n{'truncated answers':42} {result} P {result.precision:.4f} R {result.recall:.4f}")
    assert n > 1_000
    assert result.precision > 0.995
    assert result.recall > 0.99


PLAIN = re.compile(r"^\d+[.)] +(\S.*)$", re.MULTILINE)


def plain_name(entry: str) -> str:
    """An oracle of its own: split at the first separator, take off brackets and marks."""
    bold = re.match(r"\*\*(.+?)\*\*", entry)
    name = bold.group(1) if bold else entry
    for pattern in (r"\s*\([^()]*\)", r"\s*\([^()]*\)", r"\s\(.*$"):
        name = re.sub(pattern, "", name)
    name = re.split(r":(?=\s|$)|\s[-–—](?=\s|$)", name)[0]
    return name.replace("*", "").strip(' "“”.,:;—')


def test_five_plain_numbered_lines_are_the_five_items() -> None:
    n_compared = equal = 0
    for answer, result in readings().items():
        entries = PLAIN.findall(answer)
        if "<think" in answer or len(entries) != 5 or not all(map(plain_name, entries)):
            continue
        n_compared += 1
        assert result.items is not None
        assert len(result.items) == 5
        equal += result.items == tuple(plain_name(entry) for entry in entries)
    assert n_compared > 4_500
    assert equal >= 0.999 * n_compared
    reasons = Counter(result.reason for result in readings().values())
    assert reasons[None] > 0.97 * len(readings())
    assert set(reasons) <= {None, "empty", "refused", "no list found"}


# ---- what a person said -------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", ["answers", "requests"])
def test_scripts_without_capitals(sample: str) -> None:
    """Whether a list is read at all: prose of users and models in Chinese, Japanese, Thai and others."""
    texts = messages(of_assistant=sample == "answers")
    cases = [row for row in labels("scripts") if row["sample"] == sample]
    pairs = [
        (parse_list(texts[row["key"]]).items and "list", "list" if row["label"] == "list" else None)
        for row in cases
    ]
    result = tally(f"scripts without capitals, {sample}", pairs)
    assert result.wrong <= 2
    assert result.recall == 1


@cache
def merges_by_question() -> dict[str, dict[str, str]]:
    """Canonical name of each name that models gave, by question."""
    counts: dict[str, Counter[str]] = {}
    for row in rows(TOP_FIVE):
        names = counts.setdefault(row["question_id"], Counter())
        names.update(readings()[row["response"]].items or ())
    return {
        question: {
            name: merge.canonical
            for name, merge in canonicalise(names, aliases={}, overrides={}).items()
        }
        for question, names in counts.items()
    }


@pytest.mark.parametrize("sample", ["seen", "fresh"])
def test_names(sample: str) -> None:
    """Pairs of names that look alike within a question: merged where a person calls them the same."""
    merges = merges_by_question()
    homes: dict[str, set[tuple[str, str]]] = {}
    for question, names in merges.items():
        for name in names:
            homes.setdefault(digest(name), set()).add((question, name))
    pairs: Pairs = []
    for row in labels("names"):
        both = product(homes.get(row["first"], ()), homes.get(row["second"], ()))
        for (question, first), (other, second) in both if row["sample"] == sample else ():
            if question == other:
                same = merges[question][first] == merges[question][second]
                pairs.append((same or None, row["label"] == "same" or None))
    result = tally(f"names, {sample}", pairs)
    assert result.n >= 60
    assert result.wrong == 0
    assert result.recall > (0.6 if sample == "seen" else 0.9)
