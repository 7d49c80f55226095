"""What docs/ and README.md promise: links that lead somewhere, and sources that are listed."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENTS = (
    "README.md",
    *sorted(f"docs/{path.name}" for path in (REPOSITORY / "docs").glob("*.md")),
)
MARKDOWN = (
    *DOCUMENTS,
    *(
        path.relative_to(REPOSITORY).as_posix()
        for folder in ("benchmarks", "resources")
        for path in sorted((REPOSITORY / folder).glob("*/*.md"))
        # a page's frame, whose places are filled when it is made
        if "{" not in path.read_text(encoding="utf-8")
    ),
)


@cache
def lines_of(document: str) -> tuple[str, ...]:
    """Lines of a document that are not code."""
    text = (REPOSITORY / document).read_text(encoding="utf-8")
    return tuple(re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE).splitlines())


def headings(document: str) -> list[str]:
    return [line for line in lines_of(document) if re.match(r"#{1,6} ", line)]


@cache
def anchors(document: str) -> frozenset[str]:
    """Anchors that GitHub gives to the headings: a repeated one gets a number."""
    seen: Counter[str] = Counter()
    names = set()
    for heading in headings(document):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.lstrip("#").strip())
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        names.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return frozenset(names)


def links(document: str) -> list[str]:
    """Targets of links and pictures that are files or headings of this repository."""
    text = re.sub(r"`[^`\n]*`", "", "\n".join(lines_of(document)))
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def broken(document: str) -> Iterator[str]:
    for target in links(document):
        path, _, anchor = target.partition("#")
        file = (REPOSITORY / document).parent / path if path else REPOSITORY / document
        if not file.exists():
            yield f"{target}: there is no such file"
        elif anchor and file.suffix == ".md":
            name = file.resolve().relative_to(REPOSITORY).as_posix()
            if anchor not in anchors(name):
                yield f"{target}: there is no such heading"


def test_every_link_leads_somewhere() -> None:
    assert [(document, link) for document in MARKDOWN for link in broken(document)] == []


PLACES = ("Makefile", "Snakefile", "Containerfile", "config.yaml", "pyproject.toml")
FOLDERS = ("workflow", "studies", "resources", "profiles", "benchmarks", "tests")
SUFFIXES = {".py", ".smk", ".yaml", ".rst", ".md", ".txt", ".csv", ".html", ".js"}


def named_pages() -> Iterator[tuple[str, str]]:
    """Pages of docs/ that messages, settings, comments and captions name, with their anchors."""
    paths = [path for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*")]
    for path in [*(REPOSITORY / name for name in PLACES), *paths]:
        # data of tens of megabytes name no page
        if (
            path.is_file()
            and (path.suffix in SUFFIXES or not path.suffix)
            and path.stat().st_size < 1e6
        ):
            text = path.read_bytes().decode("utf-8", errors="ignore")
            for name in re.findall(r"docs/[\w-]+\.(?:md|ipynb|png)(?:#[\w-]+)?", text):
                yield path.relative_to(REPOSITORY).as_posix(), name


def test_every_page_that_is_named_anywhere_is_there_with_its_anchor() -> None:
    named = {*named_pages()}
    assert len(named) > 100
    lost = []
    for place, name in sorted(named):
        page, _, anchor = name.partition("#")
        if not (REPOSITORY / page).exists() or (anchor and anchor not in anchors(page)):
            lost.append(f"{place} names {name}")
    assert lost == []


def test_every_source_is_in_the_references() -> None:
    text = " ".join(lines_of("docs/methods.md"))
    cited = set(re.findall(r"([A-Z][\w-]+)(?: et al\.)?,? \(?((?:19|20)\d\d)\b", text))
    references = lines_of("docs/references.md")
    missing = {
        (name, year)
        for name, year in cited
        if not any(re.search(rf"\b{name}\b.* {year},", line) for line in references)
    }
    assert len(cited) > 40
    assert missing == set()


def test_the_questions_of_a_newcomer_lead_to_code() -> None:
    """Each is answered in at most two files, and what it names is defined there."""
    text = "\n".join(lines_of("docs/architecture.md"))
    table = text[
        text.index("### Questions of a newcomer") : text.index("## The library, ground floor")
    ]
    rows = re.findall(r"^\| (.*\?) \| (.*) \|$", table, re.MULTILINE)
    assert len(rows) > 10
    library = REPOSITORY / "workflow/scripts/fieldwork"
    for question, answer in rows:
        places = re.findall(r"`([\w/]+\.py)` \(`(\w+)`\)", answer)
        assert 1 <= len(places) <= 2, question
        for file, name in places:
            code = (library / file).read_text(encoding="utf-8")
            assert re.search(
                rf"^ *(?:(?:async )?def|class) {name}\b|^{name}\b", code, re.MULTILINE
            ), f"{file} does not define {name}"
