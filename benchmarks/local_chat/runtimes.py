"""The runtimes that are compared, and what their packages say of themselves."""

from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import environments

NATIVE, PLAIN = "as it is", "without AVX-512"
MACHINE = "machine"
# torch and the libraries below it obey these; the processor itself stays what it is
SETTINGS: dict[str, dict[str, str]] = {
    NATIVE: {},
    PLAIN: {
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
}


class Runtime(NamedTuple):
    """A column.

    Attributes:
        client: its script.
        package: what is installed for it.
        environment: its own; empty for the project's.
        variant: for a client of several columns.
    """

    name: str
    client: str
    package: str
    environment: str = ""
    variant: str = ""

    @property
    def is_torch(self) -> bool:
        """Whether it computes by the project's torch."""
        return not self.environment


FIELDWORK = Runtime("Fieldwork, int8", "fieldwork_model", "torch")
REFERENCE = Runtime("transformers, fp32", "torch_model", "transformers", "", "fp32")
LLAMA_CPP = Runtime("llama.cpp, Q4_1", "llama_cpp", "xllamacpp", "xllamacpp")
ONNX_BLOCKS = Runtime(
    "ONNX Runtime, int8 blocks", "onnx_model", "onnxruntime", "onnxruntime", "blocks"
)
RUNTIMES = (
    FIELDWORK,
    REFERENCE,
    Runtime("transformers, bf16", "torch_model", "transformers", "", "bf16"),
    LLAMA_CPP,
    Runtime("CTranslate2, int8", "ctranslate2_model", "ctranslate2", "ctranslate2"),
    Runtime("ONNX Runtime, dynamic int8", "onnx_model", "onnxruntime", "onnxruntime", "dynamic"),
    ONNX_BLOCKS,
    Runtime("OpenVINO, int8 weights", "openvino_model", "openvino", "openvino"),
)
CEILING = Runtime("plain products", "ceiling", "torch")
# forms of the model, each with the environment whose packages convert
CONVERSIONS = {
    "ctranslate2": "ctranslate2",
    "onnx": "onnx_converter",
    "openvino": "openvino_converter",
}
# longer ones are whole texts
LICENCE_LENGTH = 100
# what a bare environment holds
_BARE = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence")


class Package(NamedTuple):
    """What a runtime needs.

    Attributes:
        mib: installed, with all it needs.
    """

    name: str
    version: str
    licence: str
    mib: float


def packages() -> dict[str, Package]:
    """By name of the runtime; those of the project's environment without what they need."""
    return {runtime.name: _package(runtime) for runtime in RUNTIMES}


def _package(runtime: Runtime) -> Package:
    name = runtime.package
    if runtime.is_torch:
        distribution = metadata.distribution(name)
        paths = [Path(str(file.locate())) for file in distribution.files or []]
    else:
        home = environments.HOME / runtime.environment
        site = next((home / "lib").glob("python*")) / "site-packages"
        distribution = next(iter(metadata.distributions(name=name, path=[str(site)])))
        tops = [top for top in site.iterdir() if not top.name.startswith(_BARE)]
        paths = [file for top in tops for file in (top.rglob("*") if top.is_dir() else [top])]
    n_bytes = sum(path.stat().st_size for path in paths if path.is_file())
    return Package(name, distribution.version, _licence(distribution), n_bytes / 2**20)


def _licence(distribution: metadata.Distribution) -> str:
    fields = distribution.metadata
    known = fields.get("License-Expression") or fields.get("License") or ""
    if known and len(known) < LICENCE_LENGTH:
        return known
    classifiers = [c for c in fields.get_all("Classifier") or [] if c.startswith("License ::")]
    return classifiers[0].rpartition(" :: ")[2] if classifiers else "not stated"
