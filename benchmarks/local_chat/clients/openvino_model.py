"""OpenVINO with weights in int8; the rest is its own default."""

from typing import Any

import measures
import numpy as np
import numpy.typing as npt
import openvino


class OpenVino:
    """A request whose state are the keys and values."""

    def __init__(self, job: dict[str, Any]) -> None:
        settings = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
        path = f"{job['openvino']}/model.xml"
        self._request = openvino.Core().compile_model(path, "CPU", settings).create_infer_request()

    def _read(self, ids: npt.NDArray[np.int64]) -> measures.Logits:
        result = self._request.infer({"input_ids": ids, "beam_idx": np.arange(len(ids))})
        return np.array(result["logits"][:, -1], dtype=np.float32)

    def next_logits(self, ids: measures.Ids) -> measures.Logits:
        self._request.reset_state()
        return self._read(np.array([ids]))[0]

    def answers(self, past: measures.Ids, rows: int, width: int) -> measures.Steps:
        ids, is_begun = measures.forced_ids(rows, width), False

        def steps(n: int) -> measures.Logits:
            nonlocal is_begun
            # the one state is this answer's from its first step on
            if not is_begun:
                self._request.reset_state()
                self._read(np.array([past] * rows))
                is_begun = True
            return [self._read(ids) for _ in range(n)][-1]

        return steps


if __name__ == "__main__":
    measures.run(OpenVino)
