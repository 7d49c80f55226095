"""The folder of transformers as a graph of ONNX Runtime, in int8 by its dynamic quantisation.

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
    """Build the graph in fp32, then round its matrices."""
    folder, target = map(Path, sys.argv[1:])
    with TemporaryDirectory(dir=target.parent) as work:
        build(folder, Path(work))
        target.mkdir()
        quantize_dynamic(
            Path(work) / "model.onnx",
            target / "model.onnx",
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            weight_type=QuantType.QInt8,
            use_external_data_format=True,
        )


def build(folder: Path, target: Path) -> None:
    """The graph by onnxruntime-genai, with logits of the last token alone, as the others compute them."""
    packages = Path(os.environ["PEER_PACKAGES"])
    builder = packages / "onnxruntime_genai" / "models" / "builder.py"
    options = ["-p", "fp32", "-e", "cpu", "--extra_options", "prune_lm_head=true"]
    subprocess.run(
        [sys.executable, builder, "-i", folder, "-o", target, "-c", target / "cache", *options],
        check=True,
        env={**os.environ, "PYTHONPATH": str(packages)},
    )


if __name__ == "__main__":
    main()
