"""What there is in a glossary: the words of a user's house."""

from rag.types.text import Model


class GlossarySummary(Model):
    """What a glossary calls itself, and how much of each kind it has."""

    title: str
    synonyms: int
    derived: int
    places: int
    items: int
    abbreviations: int
