"""Lists that stand under headings.

Owns what a heading says about the list beneath it. The list may be no part of the answer (tips, notes,
reasons), the final answer, or one section of an answer that is split over several headings.
"""

import re
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from fieldwork.parsing.canonical import comparison_key
from fieldwork.parsing.item_names import item_names
from fieldwork.parsing.line_markers import ReplyLine
from fieldwork.parsing.marked_lists import NameList
from fieldwork.parsing.writing_systems import count_words, ends_sentence

_HEADING_WORDS = 12
_ADVICE_WORDS = 4
"""From so many words (median of the entries) imperatives are advice: 'Visit Rome' may be an option."""

_FINAL = re.compile(r"\b(?:final|revised|corrected|updated)\b[^.\n]{0,60}$", re.IGNORECASE)
_ASIDE = re.compile(
    r"\b(?:tips?|advice|reminders?|disclaimers?|caveats?|sources?|references|citations|conclusions?"
    r"|takeaways?|honou?rable\s+mentions?|runners?[-\s]up|next\s+steps?|bottom\s+line|in\s+short|reasons?|criteria"
    r"|factors?|considerations?|(?:keep|bear)\s+in\s+mind|things\s+to\s+(?:consider|know|remember|keep|bring|pack)"
    r"|what\s+to\s+(?:consider|know|bring|pack|expect|look)|before\s+you\s+\w+|pros|cons|advantages"
    r"|disadvantages|benefits|drawbacks|methodology|questions?|faqs?|further\s+reading|also\s+consider"
    r"|getting\s+(?:there|around))\b"
    r"|^\W*(?:(?:a\s+|some\s+|final\s+|important\s+|please\s+)?notes?|summary|overview|introduction|background|bonus"
    r"|important|remember|why|how\s+(?:to|i|we|they)|alternatives?|packing|budgeting)\b"
    r"|\b(?:Tipps?|Hinweise?|Fazit|Quellen|Warum|Gründe|consejos?|notas?|contras|ventajas|desventajas|conclusi[oó]n|fuentes|razones|por\s+qu[eé]"
    r"|conseils?|remarques?|pourquoi|raisons|consigli|dicas?|observaç(?:ão|ões)|советы?|примечани[ея]"
    r"|почему|причины|вывод)\b|小贴士|提示|建议|建議|注意|总结|總結|原因|理由|参考|ヒント|注意点|ポイント|まとめ",
    re.IGNORECASE,
)
_ANSWERS = re.compile(
    r"\b(?:top|best|recommend(?:ed|ations?)?|picks?|choices?|suggest(?:ed|ions?)?|list|options?|favou?rites?"
    r"|here\s+are)\b",
    re.IGNORECASE,
)
_IMPERATIVES = re.compile(
    r"(?:allow|always|ask|assess|attend|avoid|be|book|bring|browse|build|check|choose|communicate|compare|consider"
    r"|consult|contact|create|define|determine|develop|discuss|do|don['’]?t|eat|encourage|ensure|evaluate|exercise"
    r"|explain|explore|find|focus|follow|get|give|go|help|identify|join|keep|learn|listen|look|maintain|make|monitor"
    r"|network|never|pack|pay|pick|plan|practi[cs]e|prepare|prioriti[sz]e|provide|reach|read|recogni[sz]e|reflect"
    r"|remember|remind|research|review|search|seek|set|share|show|speak|start|stay|study|subscribe|support|take|talk"
    r"|teach|tell|test|think|track|try|understand|use|utili[sz]e|verify|visit|wear|work|write)\b",
    re.IGNORECASE,
)


class ListSection(NamedTuple):
    """A list and the line above it that says what it holds."""

    name_list: NameList
    heading: ReplyLine | None

    @property
    def is_aside(self) -> bool:
        """Whether the heading says that the list is something else than the answer."""
        title = self.heading.content if self.heading else ""
        if count_words(title) > _HEADING_WORDS or self.is_announced:
            return False
        return _ASIDE.search(title) is not None

    @property
    def is_announced(self) -> bool:
        """Whether the heading announces the answer: 'My top five', 'Recommendations'."""
        return self.heading is not None and _ANSWERS.search(self.heading.content) is not None

    @property
    def is_titled(self) -> bool:
        """Whether the heading is set off by more than a colon, as a heading or by emphasis."""
        return self.heading is not None and self.heading.kind == "title"

    @property
    def is_final(self) -> bool:
        return self.heading is not None and _FINAL.search(self.heading.content[-120:]) is not None


def sections_of(name_lists: Sequence[NameList], lines: Sequence[ReplyLine]) -> list[ListSection]:
    """Each list with the last line of text before it, unless that line is an entry of another list."""
    entries = {line.position for name_list in name_lists for line in name_list.lines}
    sections: list[ListSection] = []
    for name_list in name_lists:
        above = name_list.lines[0].position - 1
        while above >= 0 and lines[above].kind == "blank":
            above -= 1
        heading = lines[above] if above >= 0 and above not in entries else None
        sections.append(ListSection(name_list, heading))
    return sections


def without_asides(sections: Sequence[ListSection]) -> list[ListSection]:
    """The sections that can hold the answer: tips, notes and advice only where there is nothing else.

    Advice goes where it follows the rest: among other lists it may be what was asked for.
    """
    answers = [section for section in sections if not section.is_aside] or list(sections)
    advice = [is_advice(section.name_list) for section in answers]
    first = advice.index(True) if True in advice else len(answers)
    return answers[:first] if first > 0 and all(advice[first:]) else answers


def is_advice(name_list: NameList) -> bool:
    """Whether the entries tell the reader what to do rather than name something."""
    commands = sum(_IMPERATIVES.match(name) is not None for name in name_list.names)
    entries = [line.content for line in name_list.lines] or name_list.names
    words = median(map(count_words, entries))
    return 2 * commands > len(name_list.names) and words >= _ADVICE_WORDS


class SplitAnswer(NamedTuple):
    """An answer that is split over headings of one form."""

    parts: list[ListSection]
    name_list: NameList
    """All lists in one; where they repeat each other's entries ('Price'), the headings are listed."""

    @property
    def is_whole(self) -> bool:
        """Whether no part can be the answer alone: all have titles, and none of these says 'top five'."""
        have_titles = all(part.is_titled for part in self.parts)
        return have_titles and not any(part.is_announced for part in self.parts)


def split_answer(sections: Sequence[ListSection]) -> SplitAnswer | None:
    """The largest group of lists under headings of one form; None where no two of them are."""
    groups: dict[tuple[int, str, str], list[ListSection]] = {}
    for section in sections:
        form = _heading_form(section.heading)
        if form:
            key = (section.name_list.rank, section.name_list.lines[0].style, form)
            groups.setdefault(key, []).append(section)
    parts = max(groups.values(), key=len, default=[])
    if len(parts) < 2:
        return None
    lines = tuple(line for section in parts for line in section.name_list.lines)
    names = tuple(name for section in parts for name in section.name_list.names)
    if _repeat(parts):
        headings = [section.heading.content for section in parts if section.heading]
        names = item_names(headings)
    return SplitAnswer(parts, NameList(parts[0].name_list.rank, lines, names))


def _heading_form(line: ReplyLine | None) -> str | None:
    """How a heading is marked: its style, or ':' for a short plain line that ends in a colon."""
    if line is None or count_words(line.content) > _HEADING_WORDS:
        return None
    if line.kind == "title":
        return line.style
    if line.kind != "plain":
        return None
    if line.content.rstrip("*_ ").endswith((":", "：")):
        return ":"
    return None if ends_sentence(line.content) else "plain"


def _repeat(sections: Sequence[ListSection]) -> bool:
    """Whether the lists hold the same labels: two of them in most lists, or most of their entries."""
    keys = [{comparison_key(name) for name in section.name_list.names} for section in sections]
    counts = Counter(key for list_keys in keys for key in list_keys)
    labels = sum(2 * count > len(sections) for count in counts.values()) if len(sections) > 2 else 0
    repeats = sum(count for count in counts.values() if count > 1)
    return labels > 1 or 2 * repeats > counts.total()
