"""Which model a text says it is by.

Owns the names of assistants and of those who make them, and the ways in which an answer or the page
it was copied from says who is speaking. Promises to go by families (ChatGPT, Gemini, …) and not by
versions, which models get wrong about themselves, and never to take a list entry for a speaker.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple


class _ModelFamily(NamedTuple):
    """Regular expressions of what the assistants of a maker are called, and the maker."""

    assistants: str
    makers: str


_FAMILIES: Mapping[str, _ModelFamily] = {
    "openai": _ModelFamily(r"Chat ?GPT|GPT[- ]?\d\w*", r"Open ?AI"),
    "google": _ModelFamily(r"Gemini|Google Bard|Bard", r"Google(?: DeepMind)?"),
    "anthropic": _ModelFamily(r"Claude", r"Anthropic"),
    "xai": _ModelFamily(r"Grok", r"xAI"),
    "meta": _ModelFamily(r"Llama|Meta AI", r"Meta(?: AI)?"),
    "microsoft": _ModelFamily(r"(?:Microsoft )?Copilot|Bing Chat", r"Microsoft"),
    "deepseek": _ModelFamily(r"Deep ?Seek", r"Deep ?Seek"),
    "mistral": _ModelFamily(r"Mistral|Le Chat", r"Mistral(?: AI)?"),
    "qwen": _ModelFamily(r"Qwen", r"Alibaba(?: Cloud)?"),
    "perplexity": _ModelFamily(r"Perplexity", r"Perplexity(?: AI)?"),
}
_LIST_ENTRY = re.compile(r"^[ \t>]*(?:[-*•–+]|\W{0,3}\d{1,3}[.):])[ \t][^\n]*$", re.MULTILINE)
_MADE_BY = (
    r"(?:trained|developed|created|made|built|designed|powered)\s+by\s+(?:the\s+team\s+at\s+)?"
)


def families_in(name: str) -> set[str]:
    """Families that a name shows: of a model in the config, its label, or a platform."""
    return {
        family
        for family, words in _FAMILIES.items()
        if re.search(rf"(?:{words.assistants}|{words.makers})", name, re.IGNORECASE)
    }


def speakers(text: str) -> set[str]:
    """Families that the text says it is by, list entries left out; empty for nearly all texts."""
    prose = _LIST_ENTRY.sub("", text)
    return {family for family, words in _FAMILIES.items() if _speaks(prose, words)}


def _speaks(prose: str, words: _ModelFamily) -> bool:
    assistants, makers = f"(?:{words.assistants})", f"(?:{words.makers})"
    phrases = (
        rf"\b(?:I am|I['’]m|[Mm]y name is|[Tt]his is) {assistants}\b",
        rf"\b[Aa]s {assistants}\b,?\s+(?:I\b|I['’]|my\b|an AI|a large)",
        rf"\b(?:I am|I['’]m|I was|I have been)\b[^.!?\n]{{0,80}}?\b{_MADE_BY}{makers}\b",
        r"\b[Aa]s an? [^.!?\n]{0,40}?(?:AI|model|assistant|chatbot)\b"
        rf"[^.!?\n]{{0,20}}?{_MADE_BY}{makers}\b",
        # what the pages say around an answer, and what is copied with it
        rf"^[ \t#*]{{0,5}}{assistants}(?: said:?|:)[ \t*]{{0,4}}$",
        rf"\b{assistants} (?:is AI and )?can make mistakes\b",
        rf"\b{assistants} may display inaccurate info",
        rf"^[ \t]*(?:Sent|Shared|Answered|Generated|Answer) (?:from|by|with|via) {assistants}\b",
    )
    return any(re.search(phrase, prose, re.MULTILINE) for phrase in phrases)
