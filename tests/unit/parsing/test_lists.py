"""What a list answer can look like, and what must not be taken for one."""

import pytest

from fieldwork.parsing.lists import ParsedList, parse_list

FIVE = ("Nike", "Adidas", "Puma", "Asics", "Reebok")


def lines(template: str, *, start: int = 1) -> str:
    """One line an item; the template gets `n` and `name`."""
    return "\n".join(template.format(n=n, name=name) for n, name in enumerate(FIVE, start))


@pytest.mark.parametrize(
    "template",
    [
        "{n}. {name}",
        "{n}) {name}",
        "({n}) {name}",
        "[{n}] {name}",
        "{n}\\. {name}",
        "{n}.{name}",
        "{n}: {name}",
        "{n} - {name}",
        "{n} – {name}",
        "#{n} {name}",
        "#{n}: {name}",
        "No. {n}: {name}",
        "{n}️⃣ {name}",
        "  {n}. {name}",
        "> {n}. {name}",
        "{n}. **{name}**",
        "**{n}. {name}**",
        "**{n}.** {name}",
        "{n}. __{name}__",
        "{n}. *{name}*",
        "{n}. `{name}`",
        '{n}. "{name}"',
        "{n}. “{name}”",
        "{n}. [{name}](https://example.org/a_(b))",
        "{n}. {name}[^{n}]",
        "{n}. {name} [{n}]",
        "{n}. {name}.",
        "{n}. {name},",
        "{n}. {name}: shoes for all",
        "{n}. **{name}**: shoes for all",
        "{n}. **{name}:** shoes for all",
        "{n}. **{name}** - Shoes for all.",
        "{n}. **{name}** is known for shoes.",
        "{n}. **{name} — shoes for all, at a price.**",
        "{n}. {name} - shoes: for all",
        "{n}. {name} – shoes",
        "{n}. {name} — shoes",
        "{n}. {name}—shoes for all",
        "{n}. {name} (since 1950)",
        "{n}. {name} (since 1950): shoes (and more)",
        "{n}. 👟 {name} 👟",
        "{n}. 👟 **{name}** – shoes",
        "{n}. [ ] {name}",
        "{n}. {name}\n   - Strength: comfort\n   - Price: low",
        "{n}. {name}\n   1. Comfort\n   2. Price",
        "{n}. {name}\n\n   A sentence about shoes.\n",
        "{n}. {name}\n- Comfort\n- Price",
        "### {n}. {name}",
        "### {n}. **{name}**\n**Why:** comfort\n- Strong: yes\n- Weak: no\n\n---\n",
        "### **{n}. {name}**\nText.",
        "## {n}) {name} ##",
        "### Brand {n}: {name}\nText.",
        "**Brand {n}: {name}**\nText.",
        "### {name}\nText about it.\n- Strength: comfort",
        "**{name}**\nText about it.",
        "**{name}**\n- Strength: comfort\n- Price: low\n",
        "- {name}",
        "* {name}",
        "+ {name}",
        "• {name}",
        "•{name}",
        "– {name}",
        "- **{name}**: shoes for all",
        "- {name}\n  - Strength: comfort\n  - Price: low",
        "- {name}\n\n  A sentence about shoes.\n",
        "- {n}. {name}",
        "・{name}",
        "{name}",
        "{name}\n",
        "{name} – shoes",
        "第{n}位：{name}",
        "{n}、{name}",
        "{n}．{name}",
        "{n}。【{name}】shoes",
        "（{n}）{name}",
        "{n}. 「{name}」",
        "{n}. 《{name}》：shoes",
        "{n}. {name}：shoes",
        "{n}. {name}（shoes）",
        "<li>{name}</li>",
        "1. {name}",
        "{n}.\n{name}",
        "### {n}.\n**{name}**",
        "{n}. Brand: {name}",
        "{n}. **Brand:** {name}",
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
        "１. Nike\n２. Adidas\n３. Puma\n４. Asics\n５. Reebok",
        "① Nike\n② Adidas\n③ Puma\n④ Asics\n⑤ Reebok",
        "❶ Nike\n❷ Adidas\n❸ Puma\n❹ Asics\n❺ Reebok",
        "⑴ Nike\n⑵ Adidas\n⑶ Puma\n⑷ Asics\n⑸ Reebok",
        "一、Nike\n二、Adidas\n三、Puma\n四、Asics\n五、Reebok",
        "١. Nike\n٢. Adidas\n٣. Puma\n٤. Asics\n٥. Reebok",
        "१. Nike\n२. Adidas\n३. Puma\n४. Asics\n५. Reebok",
        "a) Nike\nb) Adidas\nc) Puma\nd) Asics\ne) Reebok",
        "A. Nike\nB. Adidas\nC. Puma\nD. Asics\nE. Reebok",
        "1. Nike 2. Adidas 3. Puma 4. Asics 5. Reebok",
        "My five: 1) Nike, 2) Adidas, 3) Puma, 4) Asics, and 5) Reebok.",
        "Nike, Adidas, Puma, Asics, Reebok",
        "Nike, Adidas, Puma, Asics and Reebok",
        "Nike, Adidas, Puma, Asics, and Reebok.",
        "Sure! The top five are: Nike, Adidas, Puma, Asics, and Reebok. Enjoy!",
        "I would recommend Nike, Adidas, Puma, Asics, and Reebok.",
        "Nike、Adidas、Puma、Asics、Reebok",
        "Nike; Adidas; Puma; Asics; Reebok",
        '["Nike", "Adidas", "Puma", "Asics", "Reebok"]',
        "['Nike', 'Adidas', 'Puma', 'Asics', 'Reebok']",
        '```json\n{"brands": ["Nike", "Adidas", "Puma", "Asics", "Reebok"]}\n```',
        '[{"rank": 1, "name": "Nike"}, {"name": "Adidas"}, {"name": "Puma"}, {"name": "Asics"},'
        ' {"name": "Reebok"}]',
        '{"1": "Nike", "2": "Adidas", "3": "Puma", "4": "Asics", "5": "Reebok"}',
        "| Rank | Brand | Why |\n|---|---|---|\n| 1 | Nike | a |\n| 2 | Adidas | b |\n| 3 | Puma | c |"
        "\n| 4 | Asics | d |\n| 5 | Reebok | e |",
        "| Brand | Why |\n|:--|--:|\n| **Nike** | a |\n| Adidas | b |\n| Puma | c |\n| Asics | d |"
        "\n| Reebok | e |",
        "```\n1. Nike\n2. Adidas\n3. Puma\n4. Asics\n5. Reebok\n```",
        "<think>\n1. Gap\n2. Zara\n3. Uniqlo\n4. Boss\n5. Hugo\n</think>\n" + lines("{n}. {name}"),
        "1. Gap\n2. Zara\n</think>\n" + lines("{n}. {name}"),
        "<|channel|>analysis<|message|>1. Gap 2. Zara 3. Boss<|end|><|start|>assistant"
        "<|channel|>final<|message|>" + lines("{n}. {name}"),
        lines("{n}. {name}") + "\n\nIn short:\n- Nike\n- Puma\n- Asics\n- Reebok\n- Adidas",
        lines("{n}. {name}") + "\n\n| Brand | Why |\n|---|---|\n| Gap | a |\n| Boss | b |",
        lines("{n}. {name}") + "\n\nTips:\n1. Compare prices\n2. Try them on",
        "First thoughts:\n1. Gap\n2. Zara\n3. Uniqlo\n4. Boss\n5. Hugo\n\nFinal list:\n"
        + lines("{n}. {name}"),
        "Two reasons:\n1. Price\n2. Comfort\n\nMy picks:\n" + lines("- {name}"),
        "I'm sorry, I can't recommend a single brand, but here are five:\n" + lines("{n}. {name}"),
        'Here you are:\n\n[\n  "Nike",\n  "Adidas",\n  "Puma",\n  "Asics",\n  "Reebok"\n]',
        lines("{n}. {name}") + '\n\nAs JSON: ["Gap", "Zara", "Boss"]',
        "I. Nike\nII. Adidas\nIII. Puma\nIV. Asics\nV. Reebok",
        "First: Nike\nSecond: Adidas\nThird: Puma\nFourth: Asics\nFifth: Reebok",
        "**Light**\n- Nike\n- Adidas\n\n**Sturdy**\n- Puma\n- Asics\n- Reebok",
        "### Light\n1. Nike\n2. Adidas\n\n### Sturdy\n3. Puma\n4. Asics\n5. Reebok",
        "Nike, Adidas, Puma, Asics, and Reebok are my top five.",
        "Nike\n\nAdidas\n\nPuma\n\nAsics\n\nReebok\n\nAll of them are fine.",
        "5. Nike\n4. Adidas\n3. Puma\n2. Asics\n1. Reebok",
        "1. Nike\r\n2. Adidas\r\n3. Puma\r\n4. Asics\r\n5. Reebok\r\n",
        "\u200b1. Nike\n2.\u00a0Adidas\n3. Puma\n4. Asics\n5. Reebok",
    ],
)  # fmt: skip
def test_same_items_in_other_forms(text: str) -> None:
    assert parse_list(text)[:2] == (FIVE, None)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("1. Nike\n2. Puma", ("Nike", "Puma")),
        ("- Nike\n- Puma\n- Asics", ("Nike", "Puma", "Asics")),
        ("\n".join(f"{n}. Brand {n}" for n in range(1, 13)), tuple(f"Brand {n}" for n in range(1, 13))),
        ("1. Nike\n2. Nike\n3. Puma\n4. Puma\n5. Nike", ("Nike", "Nike", "Puma", "Puma", "Nike")),
        ("### 1. **Nike**\nThe text breaks off he", ("Nike",)),
        ("1. Nike", ("Nike",)),
        ("1-Nike\n2-Puma", ("Nike", "Puma")),
        ("👟 1. Nike\n👟 2. Puma", ("Nike", "Puma")),
        ("1. Spider-Man: No Way Home\n2. Dune\n3. Alien\n4. Heat\n5. Up",
         ("Spider-Man: No Way Home", "Dune", "Alien", "Heat", "Up")),
        ("1. Dune: Part Two\n2. Avengers: Endgame\n3. Mission: Impossible\n4. Heat",
         ("Dune: Part Two", "Avengers: Endgame", "Mission: Impossible", "Heat")),
        ("1. Nike: Just Do It\n2. Puma: Forever Faster", ("Nike", "Puma")),
        ("1. Nike: shoes for all\n2. Puma\n3. Asics", ("Nike", "Puma", "Asics")),
        ("1. Alien: Covenant - scary\n2. Dune - sandy\n3. Up - sad", ("Alien: Covenant", "Dune", "Up")),
        ("1. **Mission: Impossible**: fast\n2. **Dune**: sandy", ("Mission: Impossible", "Dune")),
        ("1. Artificial Intelligence (AI) and Machine Learning (ML)\n2. Law",
         ("Artificial Intelligence and Machine Learning", "Law")),
        ("1. Accounts (e.g., 401(k), IRA)\n2. Bonds", ("Accounts", "Bonds")),
        ("1. (500) Days of Summer\n2. Up", ("(500) Days of Summer", "Up")),
        ('1. "1984" by George Orwell\n2. *Emma* by Jane Austen', ("1984", "Emma")),
        ("1. Yahoo!\n2. C++\n3. Washington, D.C.", ("Yahoo!", "C++", "Washington, D.C.")),
        ("1. Black–Scholes\n2. T-Mobile", ("Black–Scholes", "T-Mobile")),
        ("1. 3M: tape\n2. 7-Eleven: snacks\n3. 20th Century: films", ("3M", "7-Eleven", "20th Century")),
        ("1. Nurse. They care for people.\n2. Teacher. They teach.", ("Nurse", "Teacher")),
        ("1. Москва — столица\n2. Казань — город", ("Москва", "Казань")),
        ("١. القاهرة: عاصمة\n٢. دبي: مدينة", ("القاهرة", "دبي")),
        ("1. 東京：首都\n2. 大阪：商業", ("東京", "大阪")),
        ("१. दिल्ली – राजधानी\n२. मुंबई – नगर", ("दिल्ली", "मुंबई")),
    ],
)  # fmt: skip
def test_items_as_written(text: str, items: tuple[str, ...]) -> None:
    assert parse_list(text)[:2] == (items, None)


@pytest.mark.parametrize(
    "text",
    [
        "🥇 Nike\n🥈 Adidas\n🥉 Puma\n4. Asics\n5. Reebok",
        "🥇 **Nike** – fast\n🥈 **Adidas** – soft\n🥉 **Puma** – light\n4️⃣ Asics\n5️⃣ Reebok",
        lines("Brand {n}: {name}"),
        lines("- Brand {n}: {name}"),
        lines("Brand no. {n}: {name}"),
        "1st: Nike\n2nd: Adidas\n3rd: Puma\n4th: Asics\n5th: Reebok",
        "1st place: Nike\n2nd place: Adidas\n3rd place: Puma\n4th place: Asics\n5th place: Reebok",
        "**1st:** Nike\n**2nd:** Adidas\n**3rd:** Puma\n**4th:** Asics\n**5th:** Reebok",
        "1er : Nike\n2e : Adidas\n3e : Puma\n4e : Asics\n5e : Reebok",
        lines("{n}º lugar: {name}"),
        lines("{n}-е место: {name}"),
        lines("{n}位 {name}"),
        lines("{n}位：{name}"),
        lines("{n}번: {name}"),
        lines("{n}위 {name}"),
        "첫째, Nike\n둘째, Adidas\n셋째, Puma\n넷째, Asics\n다섯째, Reebok",
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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "empty"),
        ("", "empty"),
        (" \n\t ", "empty"),
        ("<think>I wonder. 1. Nike 2. Puma 3. Asics", "empty"),
        ("I'm sorry, but I can't help with that.", "refused"),
        ("I cannot provide investment advice. Please ask an adviser.", "refused"),
        ("I'm unable to recommend brands. You could:\n- Ask a friend\n- Visit a shop", "refused"),
        ("There are many brands, and which suits you depends on your feet.", "no list found"),
        ("For travel, consider your budget, dates, interests, and climate.", "no list found"),
        ("It depends. I like to run. You may not.", "no list found"),
        ("Could you tell me more?\n1. What is your budget?\n2. Where do you run?\n3. How often?",
         "no list found"),
        ("In 2024. That was a good year. In 2025. That was not.", "no list found"),
        ("Sure!\nI would love to help\nWhat do you like", "no list found"),
        ("8:30 Breakfast\n9:15 The bus leaves\nBring a hat.", "no list found"),
    ],
)  # fmt: skip
def test_no_list_has_a_reason(text: str | None, reason: str) -> None:
    assert parse_list(text) == ParsedList(None, reason)


def test_options_between_bars_are_a_list() -> None:
    assert parse_list("chess|reading|cooking", expected_length=3).items == (
        "chess",
        "reading",
        "cooking",
    )
    assert parse_list("Use grep 'a|b|c' to find lines.", expected_length=3).items is None


def test_a_comma_in_a_quoted_title_divides_nothing() -> None:
    text = 'My three: "Good Night, and Good Luck", "Me, Myself & Irene" and "Heat".'
    assert parse_list(text, expected_length=3).items == (
        "Good Night, and Good Luck",
        "Me, Myself & Irene",
        "Heat",
    )


@pytest.mark.parametrize("lead", ["I like", "Try", "I would consider", "Most runners prefer"])
def test_words_before_names_in_a_sentence_are_no_part_of_them(lead: str) -> None:
    text = f"{lead} Nike, Puma and Asics. They fit."
    assert parse_list(text, expected_length=3).items == ("Nike", "Puma", "Asics")


def test_other_numbers_of_items() -> None:
    text = "Reasons:\n1. Price\n2. Comfort\n\nPicks:\n- Nike\n- Puma\n- Asics"
    assert parse_list(text, expected_length=3).items == ("Nike", "Puma", "Asics")
    assert parse_list("Nike, Puma and Asics", expected_length=3).items == ("Nike", "Puma", "Asics")
