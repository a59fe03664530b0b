"""Export a trained reader as ONNX with int8 weights, quantised by channel (onnxruntime's dynamic quantisation).

python training/reader/export.py TRAINED_FOLDER pagelight_models/reader_en
"""

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from train import Reader

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def main() -> None:
    trained, output = map(Path, sys.argv[1:3])
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "model.onnx"
        torch.onnx.export(
            Reader(trained).eval(),
            tuple(torch.ones(1, 8, dtype=torch.long) for _ in INPUTS),
            str(whole),
            input_names=list(INPUTS),
            output_names=["logits"],
            dynamic_axes={name: {0: "batch", 1: "tokens"} for name in (*INPUTS, "logits")},
            opset_version=17,
            dynamo=False,
        )
        quantize_dynamic(whole, output / "model.onnx", weight_type=QuantType.QInt8, per_channel=True)
    shutil.copy(trained / "tokenizer.json", output / "tokenizer.json")
    for name in ("model.onnx", "tokenizer.json"):
        print(name, hashlib.sha256((output / name).read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
