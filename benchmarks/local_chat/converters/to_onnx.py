"""The folder of transformers as graphs of ONNX Runtime, in int8 in both of its ways.

usage: python to_onnx.py FOLDER TARGET
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

# behind the project's own packages, so that torch and transformers stay the project's
sys.path.append(os.environ["PEER_PACKAGES"])

from onnxruntime.quantization import QuantType, quantize_dynamic


def main() -> None:
    """Build the graph in fp32 and round its matrices; build it in int8 by blocks."""
    folder, target = map(Path, sys.argv[1:])
    for name in ("dynamic", "blocks"):
        (target / name).mkdir(parents=True)
    build(folder, target / "blocks", "int8", "accuracy_level=4")
    with TemporaryDirectory(dir=target) as work:
        build(folder, Path(work), "fp32")
        quantize_dynamic(
            Path(work) / "model.onnx",
            target / "dynamic" / "model.onnx",
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            weight_type=QuantType.QInt8,
            use_external_data_format=True,
        )


def build(folder: Path, target: Path, precision: str, *options: str) -> None:
    """The graph by onnxruntime-genai, with logits of the last token alone, as the others compute them."""
    packages = Path(os.environ["PEER_PACKAGES"])
    builder = packages / "onnxruntime_genai" / "models" / "builder.py"
    places = ["-i", folder, "-o", target, "-c", target / "cache"]
    settings = ["-p", precision, "-e", "cpu", "--extra_options", "prune_lm_head=true", *options]
    subprocess.run(
        [sys.executable, builder, *places, *settings],
        check=True,
        env={**os.environ, "PYTHONPATH": str(packages)},
    )


if __name__ == "__main__":
    main()
