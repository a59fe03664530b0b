"""Why evidence that has all the words of a claim may still not prove it: what the small words between them say."""

from rag.answering import bounds, quantities
from rag.answering.wording import Text


def doubts(claim: Text, own: Text, scales: frozenset[float] = frozenset()) -> list[str]:
    """The words of either for which `own`, where the words of the claim stand, does not prove it.

    `scales` are those that are declared around it.
    """
    if [word.text.casefold() for word in claim.words] == [word.text.casefold() for word in own.words]:
        return []  # word for word: figures are compared by themselves
    return [*quantities.differing(claim, own), *bounds.differing(claim, own, scales)]
