"""Links lead to the answers of an estimate, and each address of the page stands once, by a number."""

import re

from fieldwork.metrics.findings.links import answers_link, numbered_links
from fieldwork.metrics.findings.page import findings_page
from unit.metrics.findings.finding_rows import evidence
from unit.metrics.findings.test_page import FIELD_OUTLINE, REPLIES, ROWS


def test_a_link_leads_to_the_answers_of_an_estimate() -> None:
    names = {"task": "cars & co", "item": "best", "condition": "rag", "option": "A/S"}
    assert answers_link("35.0 %", model="m", base="first", **names) == (
        "[35.0 %](explorer/index.html#/answers?model=m&task=cars%20%26%20co&item=best&condition=rag"
        "&option=A%2FS&base=first)"
    )
    assert "model" not in answers_link("x", model=None, task="t", condition="c", base="counted")


def test_equal_addresses_share_a_number_and_other_links_stay() -> None:
    texts = [f"[{k}](explorer/index.html#{name})" for k, name in ((1, "a"), (2, "b"), (3, "a"))]
    lines = numbered_links([*texts, "[methods](docs/methods.md)"])
    assert lines[:4] == ["[1][1]", "[2][2]", "[3][1]", "[methods](docs/methods.md)"]
    assert [line.split(":")[0] for line in lines[5:]] == ["[1]", "[2]"]


def test_every_number_of_the_page_has_an_address() -> None:
    page = findings_page(evidence(*ROWS, outline=FIELD_OUTLINE), REPLIES, [], ["fig1"])
    numbers = set(re.findall(r"\]\[(\d+)\]", page))
    addresses = re.findall(r"^\[(\d+)\]: explorer/index\.html#/answers\?", page, re.MULTILINE)
    assert numbers == set(addresses) != set()
