"""List the closest words of each word in counter-fitted vectors, where antonyms lie far apart.

    python training/entailment/synonyms.py counter-fitted-vectors.txt.zip synonyms.json

Mrkšić et al., "Counter-fitting word vectors to linguistic constraints", 2016.
"""

import io
import json
import re
import sys
import zipfile
from pathlib import Path

import numpy as np

MIN_COSINE = 0.78
MOST = 5
CHUNK = 2000
"""Words that are compared with all others at a time."""

_WORD = re.compile("[a-z]{3,}")
_ENDING = re.compile("(ing|ed|es|s|er|ly)$")


def main() -> None:
    source, output = map(Path, sys.argv[1:3])
    words, rows = [], []
    with zipfile.ZipFile(source) as archive, archive.open(archive.namelist()[0]) as file:
        for line in io.TextIOWrapper(file, "utf-8"):
            word, *values = line.split()
            if _WORD.fullmatch(word):
                words.append(word)
                rows.append(np.array(values, dtype=np.float32))
    vectors = np.stack(rows)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    stems = [_ENDING.sub("", word) for word in words]
    found = {}
    for start in range(0, len(words), CHUNK):
        for own, near in enumerate(vectors[start : start + CHUNK] @ vectors.T, start):
            closest = [int(other) for other in np.argsort(-near)[:12] if near[other] >= MIN_COSINE]
            if others := [words[other] for other in closest if stems[other] != stems[own]][:MOST]:
                found[words[own]] = others
    output.write_text(json.dumps(found), encoding="utf-8")
    print(len(found), "words have synonyms")


if __name__ == "__main__":
    main()
