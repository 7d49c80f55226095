"""Pseudonyms, the key behind them, and the masks."""

import csv
import os
import re
import stat
from collections import defaultdict
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from field_data.synthetic import make_field
from fieldwork.errors import StudyError
from fieldwork.parsing.lists import parse_list
from fieldwork.privacy import mask, pseudonym, read_key

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT.parent / "shared/data/recommendations/top5_recommendation_answers.parquet"
KEY = bytes(range(32))
TOKENS = re.compile(r"\[(?:e-mail|link|telephone|id|name)\]")


def test_a_key_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "resources/field/key"
    key = read_key(path)
    assert len(key) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_key(path) == key
    assert read_key(tmp_path / "another") != key


@pytest.mark.parametrize(
    "written", ["", "ab" * 15, "no key at all, but long enough to be one", "é"]
)
def test_what_is_no_key_is_refused_and_left_as_it_is(tmp_path: Path, written: str) -> None:
    path = tmp_path / "key"
    path.write_text(written, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(StudyError, match=r"field\.key_file") as error:
        read_key(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    assert path.read_text(encoding="utf-8") == written


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")
@pytest.mark.parametrize(("mode", "is_refused"), [(0o604, True), (0o644, True), (0o640, False)])
def test_a_key_that_everyone_may_read_is_refused(
    tmp_path: Path, mode: int, is_refused: bool
) -> None:
    path = tmp_path / "key"
    path.write_text(KEY.hex(), encoding="ascii")
    path.chmod(mode)
    if is_refused:
        with pytest.raises(StudyError, match="chmod 600"):
            read_key(path)
    else:
        assert read_key(path) == KEY


def test_pseudonyms_follow_rfc_2104() -> None:
    """Test case 2 of RFC 4231, its first 64 bits."""
    assert pseudonym("what do ya want for nothing?", b"Jefe") == "p5bdcc146bf60754e"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Write to plantedone@example.com.", "Write to [e-mail]."),
        ("plantedone+x@mail.example.co.uk, please", "[e-mail], please"),
        ("<mailto:planted@example.com>", "<[e-mail]>"),
        ("planted [at] example [dot] com", "[e-mail]"),
        ("planted(at)example.com", "[e-mail]"),
        ("call (212) 555-0143 now", "call [telephone] now"),
        ("212-555-0143", "[telephone]"),
        ("2125550143", "[telephone]"),
        ("212-555-0143 x12", "[telephone]"),
        ("212-555-0143, ext. 4567.", "[telephone]."),
        ("+1 415 555 0172", "[telephone]"),
        ("+44 (0)20 7946 0958", "[telephone]"),
        ("0044 20 7946 0958", "[telephone]"),
        ("07700900123", "[telephone]"),
        ("my number is 555-0143", "my number is [telephone]"),
        ("Phone: 555 0143", "Phone: [telephone]"),
        ("https://chat.example.com/share/planted.", "[link]."),
        ("(http://example.org/a?b=c#d)", "([link])"),
        ("example.com/planted", "[link]"),
        ("planted.blog.example.com", "[link]"),
        ("[a page](https://example.net/planted)", "[a page]([link])"),
        ("ftp://example.org/planted", "[link]"),
        ("id 5f3c1a9be07d4426aa01be9c.", "id [id]."),
        ("worker A1B2C3D4E5F6G7", "worker [id]"),
    ],
)
def test_what_has_a_form_is_masked(text: str, masked: str) -> None:
    assert mask(text).text == masked
    assert mask(text).n_masked == 1


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("My name is Plantedone Testname.", "My name is [name]."),
        ("my name is plantedone and i like tea", "my name is [name] and i like tea"),
        ("Your name is Plantedone, right?", "Your name is [name], right?"),
        ("Hi, I'm Plantedone, a nurse.", "Hi, I'm [name], a nurse."),
        ("You can call me Plantedone!", "You can call me [name]!"),
        ("Hi Plantedone,\nhere is your list", "Hi [name],\nhere is your list"),
        ("Dear Dr. Plantedone:", "Dear Dr. [name]:"),
        ("Hello, Plantedone! Here:", "Hello, [name]! Here:"),
        ("Good morning Plantedone!", "Good morning [name]!"),
        ("Sure, Plantedone! Here are five:", "Sure, [name]! Here are five:"),
        ("Great question, Plantedone!", "Great question, [name]!"),
        ("Hope this helps, Plantedone!", "Hope this helps, [name]!"),
        ("Here are five movies for you, Plantedone:", "Here are five movies for you, [name]:"),
        ("Best regards,\nPlantedone Testname", "Best regards,\n[name]"),
        ("Thanks,\n- Plantedone", "Thanks,\n- [name]"),
        ("Hi Óplanted,", "Hi [name],"),
        ("Hi Plantedone-O'Testname,", "Hi [name],"),
        ("Sure, Claude! Here are five:", "Sure, [name]! Here are five:"),
    ],
)
def test_names_given_as_such_are_masked(text: str, masked: str) -> None:
    assert mask(text).text == masked


def test_a_name_once_given_is_found_again_but_not_within_an_entry() -> None:
    text = (
        "Hi Morgan,\n1. Morgan Stanley: Morgan may like it\n2. **Tesla** - for Morgan\n3. Morgan\n"
        "Enjoy it, dear Morgan."
    )
    assert mask(text).text == (
        "Hi [name],\n1. Morgan Stanley: [name] may like it\n2. **Tesla** - for [name]\n3. [name]\n"
        "Enjoy it, dear [name]."
    )


@pytest.mark.parametrize(
    "text",
    [
        "1. Booking.com\n2. Monday.com\n3. Amazon.co.uk\n4. Overstock.com - cheap",
        "1-800-Flowers, 1-800-FLOWERS.COM and 1-800-GOT-JUNK?",
        "iPhone 15, Galaxy S24, 7-Eleven, 3M, Boeing 747-8, 3-in-1, 911, 9-1-1, PS5, Model 3",
        "1984-1999, 2019/2020, 12/11/2026, 2024-01-15, 10:30-11:45, $1,000,000, 100 000 000 people",
        "+500 000 000 users, ISBN 978-0-306-40615-7, 3.14159265358979, 99.999%, 401(k), 24/7/365",
        "and/or, TCP/IP, Node.js/React, ASP.NET/C#, e.g. this, U.S. News, St. Regis, p.m./a.m.",
        "Fahrenheit 451, 2001: A Space Odyssey, Catch-22, Apollo 13, 1917, 12 Angry Men, 300, 42",
        "1. Dear Evan Hansen\n2. Hello, Dolly!\n3. Hey Arnold!\n4. I Am Legend\n5. Love, Simon",
        "Dr. Martens, Ben & Jerry's, Wendy's, Papa John's, Victoria's Secret, Tommy Hilfiger",
        "Of course, Nike, Adidas and Puma are well known. Sure! Here are five. Hi there! Hello World!",
        "I'm ChatGPT, a model. I am Gemini. I'm Claude, an AI assistant made by Anthropic.",
        "I'm American, so I like it. I am Black and I am Christian. I'm Sorry. As I am.",
        "Dear Planted Academy Team, Dear Admissions Committee,\nI am Open Assistant, a model.",
        "Thanks for asking! Great choice. Dear Hiring Manager, Dear Sir or Madam, Hi Everyone!",
    ],
)
def test_brands_titles_numbers_and_public_names_survive(text: str) -> None:
    assert mask(text) == (text, 0)


def test_the_participants_own_id_is_masked_where_it_could_be_nothing_else() -> None:
    assert mask("I am user qz_917-x.", participant="QZ_917-x") == ("I am user [id].", 1)
    assert mask("iPhone 15", participant="15") == ("iPhone 15", 0)
    assert mask("Beyond Meat", participant="Beyond") == ("Beyond Meat", 0)


def test_no_candidate_or_alias_of_the_studies_is_masked_as_a_list() -> None:
    names = defaultdict(list)
    for file, column in (("candidates", "candidate"), ("aliases", "canonical")):
        with (ROOT / f"resources/tasks/{file}.csv").open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                names[row["item_id"]].append(row[column])
    assert sum(map(len, names.values())) > 300
    shapes = ("{i}. {n}", "- {n}", "{i}. **{n}**: {n} is good!", "{n}", "{i}) {n} - {n}, yes")
    for group, shape in product(names.values(), shapes):
        text = "\n".join(shape.format(i=i, n=n) for i, n in enumerate(group, 1))
        assert mask(text) == (text, 0)


PLANTED = st.sampled_from(
    ["planted@example.com", "https://example.com/planted", "www.example.org/planted",
     "(212) 555-0143", "+44 20 7946 0958", "5f3c1a9be07d4426aa01be9c"]
)  # fmt: skip
WORDS = st.text(st.characters(codec="utf-8", categories=("L", "Z", "P", "N", "S")), max_size=60)


@given(before=WORDS, planted=PLANTED, after=WORDS)
def test_planted_data_never_survives_between_words(before: str, planted: str, after: str) -> None:
    found = mask(f"{before}\n{planted}\n{after}")
    assert planted not in found.text
    assert found.n_masked >= 1


@given(st.one_of(WORDS, st.lists(st.one_of(WORDS, PLANTED, st.just("Hi Planted,"))).map("\n".join)))
def test_a_masked_text_is_masked_no_further(text: str) -> None:
    once = mask(text)
    assert mask(once.text) == (once.text, 0)
    assert len(TOKENS.findall(once.text)) == once.n_masked + len(TOKENS.findall(text))


@pytest.mark.parametrize(
    "unit", ["a.", "1-", "@a.", "Hi ", "A ", "www.", "+1 ", "(2", "[at] ", "x@"]
)
def test_long_nonsense_is_masked_in_linear_time(unit: str) -> None:
    """Counted in characters that come back, not in seconds: quadratic patterns would not end."""
    text = unit * 50_000
    assert len(mask(text).text) <= len(text)


def test_every_planted_datum_of_the_synthetic_field_is_masked() -> None:
    field = make_field()
    found = [mask(row["answer"]) for row in field.long]
    texts = "\n".join(one.text for one in found)
    assert not [datum for datum in field.planted if datum.lower() in texts.lower()]
    assert sum(one.n_masked for one in found) == field.n_masked > 20


@pytest.mark.real_data
@pytest.mark.skipif(not REAL.is_file(), reason=f"{REAL} is not there")
def test_no_real_list_is_changed_by_masks() -> None:
    answers = pq.read_table(REAL, columns=["response"]).column("response").to_pylist()[::5]
    masked = [(answer, mask(answer).text) for answer in answers]
    touched = [(before, after) for before, after in masked if after != before]
    assert len(answers) == 1240
    assert not [before for before, after in touched if parse_list(before) != parse_list(after)]
    assert not touched, "docs/field.md says that none of all 6,200 is touched"
