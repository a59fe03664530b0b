"""How questions put things and how documents do: words of a trade, periods, and the named parts of documents."""

from rag.vocabulary.glossary import landmarks, widener
from rag.vocabulary.landmarks import Landmarks
from rag.vocabulary.periods import spell_out_periods
from rag.vocabulary.references import Reference, references
from rag.vocabulary.vocabulary import Vocabulary, load, trades
from rag.vocabulary.widening import Widened, Widener, Widening

__all__ = [
    "Landmarks",
    "Reference",
    "Vocabulary",
    "Widened",
    "Widener",
    "Widening",
    "landmarks",
    "load",
    "references",
    "spell_out_periods",
    "trades",
    "widener",
]
