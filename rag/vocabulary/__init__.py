"""How questions put things and how documents do: words of a trade, periods, and the named parts of documents."""

from rag.vocabulary.glossary import example, landmarks, widener
from rag.vocabulary.landmarks import Landmarks
from rag.vocabulary.periods import spell_out_periods
from rag.vocabulary.references import Reference, references
from rag.vocabulary.tables import NEW, with_synonyms
from rag.vocabulary.vocabulary import MAX_TERM_CHARACTERS, Vocabulary, load, trades
from rag.vocabulary.widening import Widened, Widener, Widening

__all__ = [
    "MAX_TERM_CHARACTERS",
    "NEW",
    "Landmarks",
    "Reference",
    "Vocabulary",
    "Widened",
    "Widener",
    "Widening",
    "example",
    "landmarks",
    "load",
    "references",
    "spell_out_periods",
    "trades",
    "widener",
    "with_synonyms",
]
