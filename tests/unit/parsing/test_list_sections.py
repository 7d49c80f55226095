"""Replies with several lists: sections of an answer, tips beside it, drafts before it."""

import pytest

from fieldwork.parsing.lists import parse_list

HOTELS = "1. Hotel Aurora: near the station\n2. Casa Verde: quiet\n3. Old Mill Inn: by the river"
NAMES = ("Hotel Aurora", "Casa Verde", "Old Mill Inn")


@pytest.mark.parametrize(
    "heading",
    [
        *("Tips:", "### Booking tips", "Some tips:", "**Before you book:**"),
        *("## Why these hotels", "Keep in mind:", "**Tipps:**", "Советы:", "小贴士：", "ヒント："),
    ],
)
@pytest.mark.parametrize("first", [True, False], ids=["tips first", "tips last"])
def test_tips_beside_an_answer_are_left_out(heading: str, first: bool) -> None:
    tips = f"{heading}\n1. Season prices differ\n2. Parking\n3. Breakfast\n4. Late arrival\n5. Pets"
    hotels = f"Here are three hotels:\n{HOTELS}"
    text = f"{tips}\n\n{hotels}" if first else f"{hotels}\n\n{tips}"
    assert parse_list(text, expected_length=3).items == NAMES
    # nor do five tips win where five hotels are asked for and three are named
    assert parse_list(text, expected_length=5).items == NAMES


def test_advice_after_the_answer_is_left_out() -> None:
    advice = (
        "- Book early, as the city fills up in May.\n- Compare prices on several sites.\n"
        "- Check the cancellation rules before you pay."
    )
    assert parse_list(f"{HOTELS}\n\nIn any case:\n\n{advice}", expected_length=5).items == NAMES


def test_sections_of_the_length_asked_for_are_all_read() -> None:
    text = "### Films\n1. Alien\n2. Heat\n3. Up\n\n### Series\n1. Fargo\n2. Lost\n3. Dark"
    names = ("Alien", "Heat", "Up", "Fargo", "Lost", "Dark")
    assert parse_list(text, expected_length=3).items == names


@pytest.mark.parametrize(
    "heading", ["Final list:", "**Revised list**", "My corrected top three:", "Updated picks:"]
)
def test_the_final_list_wins_over_drafts(heading: str) -> None:
    draft = "First thoughts:\n1. Ritz\n2. Plaza\n3. Savoy"
    assert parse_list(f"{draft}\n\n{heading}\n{HOTELS}", expected_length=3).items == NAMES


def test_advice_is_the_answer_where_there_is_nothing_else() -> None:
    text = "1. Visit the old town\n2. Take the ferry\n3. Eat at the market"
    items = ("Visit the old town", "Take the ferry", "Eat at the market")
    assert parse_list(text, expected_length=3).items == items
    assert parse_list(f"Tips:\n{text}", expected_length=3).items == items


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("*Budget*", "*Luxury*"),
        ("Budget options", "Luxury options"),
        ("**Budget (under $100)**", "**Luxury ($300+)**"),
        ("## 🏨 Hotels", "## 🛏 Hostels"),
    ],
)
def test_sections_under_any_heading_are_one_answer(first: str, second: str) -> None:
    rest = "- Old Mill Inn\n- Grand Palace\n- Elm"
    text = f"{first}\n- Hotel Aurora\n- Casa Verde\n\n{second}\n{rest}"
    assert parse_list(text, expected_length=5).items == (*NAMES, "Grand Palace", "Elm")


def test_bullets_beneath_items_are_no_answer() -> None:
    text = "1. **Nike**\n   - light\n   - soft\n2. **Puma**\n   - light\n   - dear\n   - red"
    assert parse_list(text, expected_length=5).items == ("Nike", "Puma")
    three = "1. **Nike**\n   - light\n2. **Puma**\n   - dear\n3. **Asics**\n   - soft"
    assert parse_list(three, expected_length=3).items == ("Nike", "Puma", "Asics")


@pytest.mark.parametrize(
    "aside",
    [
        "Things to pack:\n1. Hat\n2. Map\n3. Coat\n4. Soap\n5. Book",
        "Pros of hotels:\n- Clean\n- Safe\n- Warm\n- Dry\n- Calm",
        "Honorable mentions:\n1. Oak\n2. Elm\n3. Ash\n4. Fir\n5. Yew",
        "温馨提示：\n1. 提前预订\n2. 带现金\n3. 看评价\n4. 早到\n5. 保管好行李",
    ],
)
def test_five_lines_of_something_else_are_no_answer(aside: str) -> None:
    hotels = f"My hotels:\n{HOTELS}"
    assert parse_list(f"{hotels}\n\n{aside}", expected_length=5).items == NAMES
    assert parse_list(f"{aside}\n\n{hotels}", expected_length=5).items == NAMES
