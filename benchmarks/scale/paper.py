"""What was measured, carried on in proportion to studies nobody has run: time, disk, dollars."""

from typing import NamedTuple

from measurements import AGAIN, FIELDWORK, STEPS, Results

FULL = 4_800_000
MMLU = 14_042  # questions of all 57 subjects
HELM_LITE = 514
# benchmarks/generation/results.md: what the engine asks for and what the ledger keeps
ASKED_PER_S = 3_730
LEDGER_BYTES = 537
# config.yaml: gpt-4o-mini-2024-07-18, US dollars for a million tokens
INPUT, CACHED, OUTPUT = 0.15, 0.075, 0.60
QUESTION_TOKENS, ANSWER_TOKENS = 520, 5
REPLY_S = 1.0
AT_ONCE = 500


class Study(NamedTuple):
    """Histories of `puppets`, each asked all of `questions`."""

    puppets: int
    questions: int

    @property
    def requests(self) -> int:
        """One answer each."""
        return self.puppets * self.questions


def extrapolated(results: Results) -> list[str]:
    """The last section of the page."""
    sizes, scales = results.sizes("corpus"), results.sizes(AGAIN)
    corpus = results.cell("corpus", FIELDWORK, sizes[-1]) if sizes else None
    contexts = results.cell("contexts", FIELDWORK, sizes[-1]) if sizes else None
    last = [results.cell(step, FIELDWORK, scales[-1]) for step in STEPS] if scales else []
    if corpus is None or contexts is None or not last or any(cell is None for cell in last):
        return []
    known = [cell for cell in last if cell is not None]
    times = FULL / sizes[-1]
    context_bytes = contexts.n_bytes / max(contexts.kept, 1)
    counted = known[2:]  # asking is counted by the other benchmark's rate
    request_s = sum(cell.seconds for cell in counted) / known[0].kept
    memory_bytes = max(cell.resident_mib for cell in known) * 2**20 / known[0].kept
    lines = [
        "## On paper: a larger study than any of these",
        "",
        f"In proportion from the largest size measured. {FULL:,} conversations: the corpus step "
        f"{corpus.seconds * times / 60:.1f} min, {corpus.n_bytes * times / 1e9:.1f} GB of "
        f"conversations kept ({corpus.kept * times:,.0f}); from there one history for each of "
        f"{contexts.kept * times:,.0f} puppets {contexts.seconds * times / 60:.1f} min.",
        "",
        "| puppets | questions | requests | contexts | asking, machine | asking, provider | ledger "
        "| to figures | dollars |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    studies = (Study(1_000, HELM_LITE), Study(10_000, MMLU), Study(10**6, HELM_LITE))
    for study in (*studies, Study(10**6, MMLU)):
        lines.append(_line(study, context_bytes, request_s))
    return [*lines, "", *_reading(memory_bytes, corpus.kept * times)]


def _line(study: Study, context_bytes: float, request_s: float) -> str:
    tokens = _history_tokens(context_bytes)
    dollars = study.puppets * tokens * INPUT + study.requests * (
        tokens * CACHED + QUESTION_TOKENS * INPUT + ANSWER_TOKENS * OUTPUT
    )
    return (
        f"| {study.puppets:,} | {study.questions:,} | {study.requests:.2g} "
        f"| {study.puppets * context_bytes / 1e9:.1f} GB | {_time(study.requests / ASKED_PER_S)} "
        f"| {_time(study.requests * REPLY_S / AT_ONCE)} "
        f"| {study.requests * LEDGER_BYTES / 1e9:,.1f} GB | {_time(study.requests * request_s)} "
        f"| {dollars / 1e6:,.0f} |"
    )


def _history_tokens(context_bytes: float) -> float:
    """From compressed bytes: text shrinks about threefold, and a token is four bytes."""
    return context_bytes * 3 / 4


def _reading(memory_bytes: float, kept: float) -> list[str]:
    fill = 64 * 2**30 / memory_bytes
    return [
        f"`asking, machine` is at {ASKED_PER_S:,} requests a second, the engine's own ceiling with",
        f"long contexts; `asking, provider` is at {AT_ONCE} calls at once of {REPLY_S:g} s each. Dollars",
        "are at the prices of gpt-4o-mini in `config.yaml`, every history read from the prompt cache",
        "after its first question; half of that by batch.",
        "",
        "What breaks first, in this order:",
        "",
        f"1. **Users.** With the shipped filters {FULL:,} conversations leave {kept:,.0f}: fewer than a",
        "   million puppets need. `min_user_turns` has to fall, or puppets have to share conversations.",
        "2. **Money.** A million puppets cost more than any study has before anything else stops them.",
        "3. **Memory of a stage.** Requests, responses and answers of one condition are Python rows:",
        f"   about {memory_bytes / 1024:.1f} KiB a request at the peak, so that {fill:.1g} requests fill",
        "   64 GiB. A larger study has to be cut into tasks (one a subject), which run one by one.",
        "4. **The ledger.** One SQLite file a model takes hundreds of GB: it works, but copying it",
        "   takes hours.",
    ]


def _time(seconds: float) -> str:
    for unit, size in (("years", 365 * 86_400), ("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} s"
