"""What a list answer can look like, and what must not be taken for one."""

import pytest

from fieldwork.parsing.lists import parse_list

FIVE = ("Nike", "Adidas", "Puma", "Asics", "Reebok")


def lines(template: str, *, start: int = 1) -> str:
    """One line an item; the template gets `n` and `name`."""
    return "\n".join(template.format(n=n, name=name) for n, name in enumerate(FIVE, start))


@pytest.mark.parametrize(
    "template",
    [
        *("{n}. {name}", "{n}) {name}", "({n}) {name}", "[{n}] {name}", "{n}\\. {name}"),
        *("{n}.{name}", "{n}: {name}", "{n} - {name}", "#{n} {name}", "No. {n}: {name}"),
        *("{n}️⃣ {name}", "> {n}. {name}", "{n}. **{name}**", "**{n}. {name}**"),
        *('{n}. "{name}"', "{n}. [{name}](https://example.org/a_(b))", "{n}. {name}[^{n}]"),
        *("{n}. {name}: shoes for all", "{n}. **{name}:** shoes for all"),
        "{n}. **{name}** is known for shoes.",
        *("{n}. **{name} — shoes for all, at a price.**", "{n}. {name}—shoes for all"),
        *("{n}. {name} (since 1950)", "{n}. {name} (since 1950): shoes (and more)"),
        *("{n}. 👟 {name} 👟", "{n}. [ ] {name}"),
        "{n}. {name}\n   - Strength: comfort\n   - Price: low",
        "{n}. {name}\n   1. Comfort\n   2. Price",
        *("{n}. {name}\n\n   A sentence about shoes.\n", "{n}. {name}\n- Comfort\n- Price"),
        "### {n}. {name}",
        "### {n}. **{name}**\n**Why:** comfort\n- Strong: yes\n- Weak: no\n\n---\n",
        *("## {n}) {name} ##", "### Brand {n}: {name}\nText."),
        *("### {name}\nText about it.\n- Strength: comfort", "**{name}**\nText about it."),
        *("- {name}", "• {name}", "– {name}"),
        *("- {name}\n  - Strength: comfort\n  - Price: low", "- {n}. {name}", "・{name}"),
        *("{name}", "{name} – shoes", "第{n}位：{name}", "{n}。【{name}】shoes", "（{n}）{name}"),
        *("{n}. 《{name}》：shoes", "{n}. {name}（shoes）", "<li>{name}</li>", "1. {name}"),
        *("{n}.\n{name}", "{n}. Brand: {name}"),
    ],
)
@pytest.mark.parametrize(
    "frame",
    ["{}", "Here are five brands:\n\n{}\n\nLet me know if you want more, or less!", "\n\n{}\n"],
)
def test_forms_of_a_list(template: str, frame: str) -> None:
    assert parse_list(frame.format(lines(template)))[:2] == (FIVE, None)


@pytest.mark.parametrize(
    "text",
    [
        "🥇 Nike\n🥈 Adidas\n🥉 Puma\n4. Asics\n5. Reebok",
        lines("Brand {n}: {name}"),
        lines("Brand no. {n}: {name}"),
        "1st place: Nike\n2nd place: Adidas\n3rd place: Puma\n4th place: Asics\n5th place: Reebok",
        "**1st:** Nike\n**2nd:** Adidas\n**3rd:** Puma\n**4th:** Asics\n**5th:** Reebok",
        lines("{n}º lugar: {name}"),
        lines("{n}位 {name}"),
        lines("{n}번: {name}"),
        lines("{n}위 {name}"),
        "(i) Nike\n(ii) Adidas\n(iii) Puma\n(iv) Asics\n(v) Reebok",
        "i. Nike\nii. Adidas\niii. Puma\niv. Asics\nv. Reebok",
        "א. Nike\nב. Adidas\nג. Puma\nד. Asics\nה. Reebok",
        "а) Nike\nб) Adidas\nв) Puma\nг) Asics\nд) Reebok",
        "α) Nike\nβ) Adidas\nγ) Puma\nδ) Asics\nε) Reebok",
        "가. Nike\n나. Adidas\n다. Puma\n라. Asics\n마. Reebok",
        "\\begin{enumerate}\n" + lines("\\item \\textbf{{{name}}}: good") + "\n\\end{enumerate}",
        "| Use | Brand |\n|---|---|\n| Budget | Nike |\n| Running | Adidas |\n| Style | Puma |\n"
        "| Comfort | Asics |\n| Retro | Reebok |",
    ],
)
@pytest.mark.parametrize("frame", ["{}", "Here they are:\n\n{}\n\nThat is all."])
def test_ranks_in_other_signs(text: str, frame: str) -> None:
    listing = parse_list(frame.replace("{}", text), question="Name five brands that you use.")
    assert listing[:2] == (FIVE, None)


def test_names_that_hold_numbers_are_no_ranks() -> None:
    text = "Channel 5\nStudio 54\nRadio 1\nLevel 42\nPier 1"
    assert parse_list(text).items == tuple(text.split("\n"))
    text = "3M: tape\n7-Eleven: snacks\n5 Guys: burgers\n4711: scent\n2K: games"
    assert parse_list(text).items == ("3M", "7-Eleven", "5 Guys", "4711", "2K")


def test_a_table_is_read_by_its_first_column_where_the_question_names_none() -> None:
    text = "| Shoe | Brand |\n|---|---|\n| Pegasus | Nike |\n| Samba | Adidas |"
    assert parse_list(text, question="Which would you buy?").items == ("Pegasus", "Samba")
    assert parse_list(text, question="Which two brands?").items == ("Nike", "Adidas")
    ranks = "| Rank | Why | Brand |\n|---|---|---|\n| 1 | soft | Nike |\n| 2 | light | Adidas |"
    question = "Rank the two companies or brands that you like, and say why."
    assert parse_list(ranks, question=question).items == ("Nike", "Adidas")


def test_options_between_bars_are_a_list() -> None:
    hobbies = ("chess", "reading", "cooking")
    assert parse_list("|".join(hobbies), expected_length=3).items == hobbies
    assert parse_list("Use grep 'a|b|c' to find lines.", expected_length=3).items is None


def test_a_comma_in_a_quoted_title_divides_nothing() -> None:
    titles = ("Good Night, and Good Luck", "Me, Myself & Irene", "Heat")
    text = 'My three: "{}", "{}" and "{}".'.format(*titles)
    assert parse_list(text, expected_length=3).items == titles


@pytest.mark.parametrize("lead", ["I like", "Try", "I would consider", "Most runners prefer"])
def test_words_before_names_in_a_sentence_are_no_part_of_them(lead: str) -> None:
    text = f"{lead} Nike, Puma and Asics. They fit."
    assert parse_list(text, expected_length=3).items == ("Nike", "Puma", "Asics")


def test_other_numbers_of_items() -> None:
    text = "Reasons:\n1. Price\n2. Comfort\n\nPicks:\n- Nike\n- Puma\n- Asics"
    assert parse_list(text, expected_length=3).items == ("Nike", "Puma", "Asics")
    assert parse_list("Nike, Puma and Asics", expected_length=3).items == ("Nike", "Puma", "Asics")
