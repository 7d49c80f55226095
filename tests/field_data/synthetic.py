"""A synthetic field: forty participants who never lived, for tests of the import and all behind it.

`python tests/field_data/synthetic.py` writes wide.csv, long.csv and wide.xlsx beside this file. Groups
prefer different options; personal data and junk of every check are planted, and counted in what
`make_field` returns. Every name, address and number is made up: names end in or begin with
`Planted`, addresses are under example.com, .net and .org, numbers are from ranges kept for fiction.
"""

import csv
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from fieldwork.records.tasks import Item
from fieldwork.tasks.items import load_items, read_candidates
from fieldwork.tasks.own_items import TaskSource

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
SEED = 40
GROUPS = ("Black men", "Black women", "White men", "White women")
AGE_BANDS = ("18-34", "35-54", "55 and over")
N_PARTICIPANTS = 40
MODEL_IN_FILE = "Demonstration model"
"""What the file calls the model: `models: {Demonstration model: embedded}`."""
MARK = "SYNTHETIC, see tests/field_data/README.md"
CHOICE_ITEMS = ("sample_medicine-000", "sample_medicine-001", "ethics-00", "ethics-01")

Prompt = tuple[str, str]


class SyntheticField(NamedTuple):
    """The field and what is known of it."""

    wide: list[dict[str, str]]
    long: list[dict[str, str]]
    items: dict[Prompt, Item]
    planted: tuple[str, ...]
    """Personal data that no output may hold: ids, addresses, numbers, links, names and their parts."""
    n_masked: int
    """Masks that a perfect import of wide makes, and of long: repeats hold none."""
    flagged: dict[str, int]
    """Check -> answers that fail it; none fails two."""
    repeats: list[tuple[str, Prompt]]
    """Participant and prompt of the second answers, which long has and wide has not."""


class _Person(NamedTuple):
    participant: str
    group: str
    age_band: str
    platform: str


class _Plant(NamedTuple):
    """A sentence with personal data: what it holds, and how many masks it takes."""

    before: str
    after: str
    secrets: tuple[str, ...]
    n_masks: int


def load_prompts() -> dict[Prompt, Item]:
    """The nine recommendation prompts and the four of the probe."""
    lists = load_items(
        [ROOT / "resources/tasks/recommendations.csv"],
        TaskSource(format="items", dataset="recommendations", kind="list"),
        read_candidates(str(ROOT / "resources/tasks/candidates.csv")),
    )
    mmlu = load_items(
        sorted((ROOT / "resources/sample/mmlu").glob("*/sample_medicine_*.csv")),
        TaskSource(format="mmlu", dataset="sample_mmlu", item_ids=[*CHOICE_ITEMS[:2]]),
        {},
    )
    ethics = load_items(
        [ROOT / "resources/sample/ethics.csv"],
        TaskSource(format="items", dataset="sample_ethics", item_ids=[*CHOICE_ITEMS[2:]]),
        {},
    )
    items = {("recommendations", item.item_id): item for item in lists}
    return items | {("probe", item.item_id): item for item in (*mmlu, *ethics)}


def make_field(seed: int = SEED) -> SyntheticField:
    """The field of a seed, the same every time."""
    items = load_prompts()
    draw = random.Random(seed)
    people = list(_people(draw))
    answers = {
        (person.participant, prompt): _answer(item, person.group, draw)
        for person in people
        for prompt, item in items.items()
    }
    taken: set[tuple[str, Prompt]] = set()
    repeats = _repeats(people, items, taken)
    flagged = _plant_junk(answers, people, items, taken, draw)
    plants = _plant_personal_data(answers, people, items, taken)
    second = {key: _answer(items[key[1]], _group_of(people, key[0]), draw) for key in repeats}
    secrets = [secret for plant in plants for secret in plant.secrets]
    for number, person in enumerate(people):
        secrets += [person.participant, _email(number), _address(number)]
    return SyntheticField(
        wide=[_wide_row(number, person, answers, items) for number, person in enumerate(people)],
        long=list(_long_rows(people, answers, second, items, draw)),
        items=items,
        planted=tuple(dict.fromkeys(secrets)),
        n_masked=sum(plant.n_masks for plant in plants),
        flagged=dict(flagged),
        repeats=repeats,
    )


def _people(draw: random.Random) -> Iterator[_Person]:
    for number in range(N_PARTICIPANTS):
        yield _Person(
            participant=f"{draw.getrandbits(96):024x}",
            group=GROUPS[number % len(GROUPS)],
            age_band=AGE_BANDS[number // len(GROUPS) % len(AGE_BANDS)],
            platform=("web page", "phone app")[number % 3 == 0],
        )


def _group_of(people: Sequence[_Person], participant: str) -> str:
    return next(person.group for person in people if person.participant == participant)


# ---- answers as chat models write them ----------------------------------------------------------

_OPENINGS = ("Sure! Here are five options:", "Here are five ideas to start with:", "")
_REASONS = (
    "easy to begin with and hard to grow tired of",
    "many people come back to it again and again",
    "a safe choice if you are unsure",
    "it suits nearly every budget",
    "a little unusual, and all the better for it",
    "worth a try at least once",
    "well known, and for good reason",
)
_CLOSINGS = ("Let me know if you would like more details!", "I hope this helps.", "")


def _answer(item: Item, group: str, draw: random.Random) -> str:
    if item.kind == "choice":
        return _letter_text(item, group, draw)
    return _list_text(_options(item, group, draw), draw)


def _options(item: Item, group: str, draw: random.Random) -> list[str]:
    """Five options: the head of the list is popular, and each group has favourites of its own."""
    place = GROUPS.index(group)
    weights = {
        name: (4.0 if rank % len(GROUPS) == place else 1.0) / (rank + 3)
        for rank, name in enumerate(item.choices)
    }
    chosen: list[str] = []
    for _ in range(5):
        name = draw.choices(list(weights), weights=list(weights.values()))[0]
        chosen.append(name)
        del weights[name]
    return chosen


def _list_text(names: Sequence[str], draw: random.Random) -> str:
    shape = draw.randrange(4)
    reasons = [draw.choice(_REASONS) for _ in names]
    if shape == 0:
        return _numbered(names)
    if shape == 1:
        lines = [
            f"{i}. **{n}**: {r}." for i, (n, r) in enumerate(zip(names, reasons, strict=True), 1)
        ]
    elif shape == 2:
        lines = [f"- {n} – {r}" for n, r in zip(names, reasons, strict=True)]
    else:
        lines = [f"{i}. {n}" for i, n in enumerate(names, 1)]
    opening, closing = draw.choice(_OPENINGS), draw.choice(_CLOSINGS)
    return "\n\n".join(part for part in (opening, "\n".join(lines), closing) if part)


def _numbered(names: Sequence[str]) -> str:
    return "\n".join(f"{i}. {name}" for i, name in enumerate(names, 1))


def _letter_text(item: Item, group: str, draw: random.Random) -> str:
    letters = "ABCDEFGHIJ"[: len(item.choices)]
    right = 0.85 - 0.1 * GROUPS.index(group)
    letter = item.gold if item.gold and draw.random() < right else draw.choice(letters)
    text = item.choices[letters.index(letter)]
    shapes = (letter, f"{letter}.", f"The answer is {letter}.", f"**{letter}. {text}**")
    return draw.choice(shapes)


# ---- junk ---------------------------------------------------------------------------------------

_LONG = (
    "{intro}\n\n1. **{0}**: this one has been around for a long time and is still loved by many.\n"
    "2. **{1}**: a fresh take that has found its own followers over the last years.\n"
    "3. **{2}**: quiet, dependable and never out of place.\n"
    "4. **{3}**: for days on which you feel like something bolder.\n"
    "5. **{4}**: last but not least, a favourite of people who know what they want."
)
_FOREIGN = (
    "Claro, aquí tienes cinco ideas que podrían gustarte mucho, según lo que buscas este año. "
    "Todas son fáciles de conseguir y no cuestan demasiado dinero.",
    "Gerne, hier sind fünf Vorschläge, die dir gefallen könnten. Ich habe sie so ausgewählt, dass "
    "für jeden Geschmack und jeden Geldbeutel etwas dabei ist.",
    "Bien sûr, voici cinq idées qui pourraient vous plaire. Elles sont toutes faciles à trouver "
    "et conviennent à ceux qui veulent essayer quelque chose de nouveau.",
)
_REFUSALS = (
    "I'm sorry, but I can't help with that request.",
    "As an AI, I cannot choose for you, since this depends on your taste alone.",
    "I'm unable to provide recommendations on this topic.",
)
_OTHER_MODELS = (
    "As ChatGPT, I don't have tastes of my own, but these are often named:\n\n{list}",
    "I'm Gemini, a large language model built by Google. My suggestions:\n\n{list}",
    "Claude can make mistakes. Please double-check responses.\n\n{list}",
)

Cell = tuple[str, Prompt]


def _plant_junk(
    answers: dict[Cell, str],
    people: Sequence[_Person],
    items: Mapping[Prompt, Item],
    taken: set[Cell],
    draw: random.Random,
) -> Counter[str]:
    """Overwrite answers with junk, each cell once; how many cells fail which check."""
    lists = [prompt for prompt, item in items.items() if item.kind == "list"]
    choices = [prompt for prompt, item in items.items() if item.kind == "choice"]
    free = _free_cells(people, lists, taken, start=3)
    free_choice = _free_cells(people, choices, taken, start=5)
    flagged: Counter[str] = Counter()

    def put(check: str, cell: Cell, text: str) -> None:
        answers[cell] = text
        taken.add(cell)
        flagged[check] += 1

    def names(prompt: Prompt) -> list[str]:
        return _options(items[prompt], draw.choice(GROUPS), draw)

    for text in ("", "", "", "", "   ", ""):
        put("empty", next(free), text)
    for text in ("n/a", "idk", "ok"):
        put("too_short", next(free), text)
    for cell in (next(free), next(free), next(free_choice)):
        put("prompt_pasted", cell, items[cell[1]].prompt)
    for cell in (next(free), next(free)):
        put("prompt_repeated", cell, f"{items[cell[1]].prompt}\n\n{_numbered(names(cell[1]))}")
    cell = next(free_choice)
    put("prompt_repeated", cell, f"You said:\n{items[cell[1]].prompt}\nThe answer is A.")
    for text in _OTHER_MODELS:
        cell = next(free)
        put("other_model", cell, text.replace("{list}", _numbered(names(cell[1]))))
    for text in _FOREIGN:
        cell = next(free)
        put("other_language", cell, f"{text}\n\n{_numbered(names(cell[1]))}")
    for text in _REFUSALS:
        put("refusal", next(free), text)
    _plant_other_prompts(put, free, free_choice, items, names)
    for n_copies in (2, 3):
        cells = _same_prompt(people, lists[n_copies], taken, n_copies)
        intro = "Happy to share a few thoughts:" if n_copies == 2 else "A few to think about:"
        text = _LONG.format(*names(lists[n_copies]), intro=intro)
        for cell in cells:
            put("duplicate", cell, text)
    return flagged


def _plant_other_prompts(
    put: Callable[[str, Cell, str], None],
    free: Iterator[Cell],
    free_choice: Iterator[Cell],
    items: Mapping[Prompt, Item],
    names: Callable[[Prompt], list[str]],
) -> None:
    """A neighbour's options, a neighbour's prompt with its answer, a list for a letter and back."""
    lists = [prompt for prompt, item in items.items() if item.kind == "list"]
    for _ in range(2):
        cell = next(free)
        other = lists[(lists.index(cell[1]) + 4) % len(lists)]
        put("other_prompt", cell, _numbered(names(other)))
    cell = next(free)
    other = lists[(lists.index(cell[1]) + 4) % len(lists)]
    put("other_prompt", cell, f"{items[other].prompt}\n{_numbered(names(other))}")
    put("other_prompt", next(free_choice), _numbered(names(lists[0])))
    put("other_prompt", next(free), "The answer is D: the cerebellum.")


def _free_cells(
    people: Sequence[_Person], prompts: Sequence[Prompt], taken: set[Cell], *, start: int
) -> Iterator[Cell]:
    """Cells not yet used, one person after another, so that no group bears all the junk."""
    for step in range(len(people) * len(prompts)):
        person = people[(start + 7 * step) % len(people)]
        cell = (person.participant, prompts[(step + step // len(people)) % len(prompts)])
        if cell not in taken:
            yield cell


def _same_prompt(
    people: Sequence[_Person], prompt: Prompt, taken: set[Cell], n_cells: int
) -> list[Cell]:
    free = [(p.participant, prompt) for p in people if (p.participant, prompt) not in taken]
    return free[2 : 2 + 4 * n_cells : 4]


def _repeats(
    people: Sequence[_Person], items: Mapping[Prompt, Item], taken: set[Cell]
) -> list[Cell]:
    """Three participants who answer two prompts twice."""
    prompts = list(items)
    cells = [
        (people[number].participant, prompt)
        for number in (1, 14, 27)
        for prompt in (prompts[0], prompts[9])
    ]
    taken.update(cells)
    return cells


# ---- personal data ------------------------------------------------------------------------------

_PLANTS = (
    _Plant("Hi Plantedone,", "", ("Plantedone",), 1),
    _Plant("Sure, Plantedtwo! Here you go:", "Enjoy, Plantedtwo!", ("Plantedtwo",), 2),
    _Plant("Of course, Plantedthree, here are some ideas.", "", ("Plantedthree",), 1),
    _Plant(
        "You: my name is Testname Plantedfour and I need ideas.",
        "Best of luck to Testname.",
        ("Testname Plantedfour", "Plantedfour", "Testname"),
        2,
    ),
    _Plant("", "Thanks,\nPlantedfive", ("Plantedfive",), 1),
    _Plant("", "signed, Testname Plantedsix", ("Plantedsix", "Testname"), 1),
    _Plant("I'm Plantedseven, and this is what I got:", "", ("Plantedseven",), 1),
    _Plant("", "Write to plantedeight@example.com for more.", ("plantedeight@example.com",), 1),
    _Plant(
        "Sent to testname.plantednine+study@mail.example.org",
        "",
        ("testname.plantednine+study@mail.example.org", "plantednine"),
        1,
    ),
    _Plant("", "Call me at (212) 555-0143.", ("(212) 555-0143", "555-0143"), 1),
    _Plant("", "Phone: +1 415 555 0172 ext. 12", ("+1 415 555 0172", "555 0172"), 1),
    _Plant("", "Mobile +44 20 7946 0958 or 646.555.0118", ("7946 0958", "646.555.0118"), 2),
    _Plant(
        "",
        "Shared at https://chat.example.com/share/planted-7f3a.",
        ("https://chat.example.com/share/planted-7f3a", "planted-7f3a"),
        1,
    ),
    _Plant(
        "", "See www.example.org/u/plantedten", ("www.example.org/u/plantedten", "plantedten"), 1
    ),
    _Plant(
        "",
        "Source: [a page](https://example.net/plantedeleven?id=7)",
        ("https://example.net/plantedeleven?id=7", "plantedeleven"),
        1,
    ),
    _Plant("", "plantedtwelve.example.com/about has more.", ("plantedtwelve",), 1),
)


def _plant_personal_data(
    answers: dict[Cell, str],
    people: Sequence[_Person],
    items: Mapping[Prompt, Item],
    taken: set[Cell],
) -> list[_Plant]:
    """Write personal data around answers that nothing else is planted in."""
    lists = [prompt for prompt, item in items.items() if item.kind == "list"]
    free = _free_cells(people, lists, taken, start=11)
    plants: list[_Plant] = []
    for plant in _PLANTS:
        cell = next(free)
        answers[cell] = _around(answers[cell], plant)
        taken.add(cell)
        plants.append(plant)
    for _ in range(2):
        cell = next(free)
        plant = _Plant("", f"(participant {cell[0]})", (cell[0],), 1)
        answers[cell] = _around(answers[cell], plant)
        taken.add(cell)
        plants.append(plant)
    return plants


def _around(text: str, plant: _Plant) -> str:
    return "\n\n".join(part for part in (plant.before, text, plant.after) if part)


def _email(number: int) -> str:
    return f"panel.planted{number:02d}@example.com"


def _address(number: int) -> str:
    """Of the block that RFC 5737 keeps for documents."""
    return f"203.0.113.{100 + number}"


# ---- files --------------------------------------------------------------------------------------


def _wide_row(
    number: int, person: _Person, answers: Mapping[Cell, str], items: Mapping[Prompt, Item]
) -> dict[str, str]:
    """A row as survey tools export it, with columns that no import asks for."""
    return {
        "note": MARK,
        "IPAddress": _address(number),
        "RecipientEmail": _email(number),
        "panel_id": person.participant,
        "device": person.platform,
        "assistant": MODEL_IN_FILE,
        "group": person.group,
        "age_band": person.age_band,
        **{f"Q_{prompt[1]}": answers[person.participant, prompt] for prompt in items},
    }


def _long_rows(
    people: Sequence[_Person],
    answers: Mapping[Cell, str],
    second: Mapping[Cell, str],
    items: Mapping[Prompt, Item],
    draw: random.Random,
) -> Iterator[dict[str, str]]:
    for number, person in enumerate(people):
        order = draw.sample(list(items), len(items))
        shown = [(prompt, answers[person.participant, prompt]) for prompt in order]
        shown += [
            (prompt, text) for (who, prompt), text in second.items() if who == person.participant
        ]
        for position, (prompt, text) in enumerate(shown, 1):
            yield {
                "note": MARK,
                "RecipientEmail": _email(number),
                "panel_id": person.participant,
                "device": person.platform,
                "assistant": MODEL_IN_FILE,
                "group": person.group,
                "age_band": person.age_band,
                "prompt": prompt[1],
                "position": str(position),
                "answer": text,
            }


def write_files(folder: Path, field: SyntheticField) -> None:
    """wide.csv, long.csv and wide.xlsx, in UTF-8."""
    for name, rows in (("wide", field.wide), ("long", field.long)):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    pd.DataFrame(field.wide).to_excel(folder / "wide.xlsx", index=False, sheet_name="SYNTHETIC")


if __name__ == "__main__":
    write_files(HERE, make_field())
