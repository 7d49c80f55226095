"""ONNX Runtime on the graph that onnxruntime-genai builds, in int8."""

from typing import Any

import measures
import numpy as np
import numpy.typing as npt
import onnxruntime

Past = dict[str, npt.NDArray[np.float32]]


class OnnxModel:
    """A session with keys and values as inputs and outputs."""

    def __init__(self, job: dict[str, Any]) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            f"{job['onnx']}/{job['variant']}/model.onnx",
            options,
            providers=["CPUExecutionProvider"],
        )
        inputs = [entry for entry in self._session.get_inputs() if entry.name.startswith("past")]
        self._past_names = [entry.name for entry in inputs]
        self._nothing = {
            entry.name: np.zeros((1, entry.shape[1], 0, job["head_size"]), np.float32)
            for entry in inputs
        }

    def _read(self, ids: npt.NDArray[np.int64], past: Past) -> tuple[measures.Logits, Past]:
        n_past = past[self._past_names[0]].shape[2]
        mask = np.ones((len(ids), n_past + ids.shape[1]), np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, **past}
        logits, *present = self._session.run(None, feed)
        return logits[:, -1], dict(zip(self._past_names, present, strict=True))

    def next_logits(self, ids: measures.Ids) -> measures.Logits:
        return self._read(np.array([ids]), self._nothing)[0][0]

    def answers(self, past: measures.Ids, rows: int, width: int) -> measures.Steps | None:
        if rows > 1 and width > 1:
            return None  # its GroupQueryAttention refuses several tokens a row behind a past
        _, known = self._read(np.array([past]), self._nothing)
        state = {name: np.repeat(values, rows, 0) for name, values in known.items()}
        ids = measures.forced_ids(rows, width)

        def steps(n: int) -> measures.Logits:
            nonlocal state
            for _ in range(n):
                logits, state = self._read(ids, state)
            return logits

        return steps


if __name__ == "__main__":
    measures.run(OnnxModel)
