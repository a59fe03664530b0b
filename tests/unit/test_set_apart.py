"""What is made of text that is set apart: comments, words that are struck out, and words that nobody sees."""

import uuid
from collections.abc import Sequence

import pytest
from llama_index.core.schema import NodeWithScore

from rag import prompts
from rag.answering.extraction.extractive_answer import choose
from rag.answering.extraction.question_intent import asks_for_comments
from rag.answering.generation.context import build_context, neutralise_marks
from rag.answering.generation.model_answer import final_answer
from rag.answering.passages.quotable_units import split_passage
from rag.answering.text.markup import ProposedQuote
from rag.answering.verification.citations import Claim
from rag.answering.verification.grounding import Grounder
from rag.answering.verification.judges import MeaningVerdict, Prompted
from rag.answering.verification.open_claims import OpenClaim
from rag.answering.verification.quote_matching import QuotablePassage
from rag.export import claims_of, reason_of
from rag.ingestion.pipeline import identifying_text
from rag.parsing.metadata import find_title
from rag.retrieval.nodes import HitNode, to_hits
from rag.retrieval.postprocessors import NoEvidenceLast
from rag.types import (
    EVIDENCE,
    NO_EVIDENCE,
    PAGE_TEXT,
    AnswerResponse,
    BlockKind,
    Citation,
    Hit,
    Rect,
    Sentence,
    Support,
    TextBlock,
    line_counts,
    set_apart_labels,
)
from rag.ui.chat.answer import location_text
from rag.ui.viewer.pdf_viewer import Mark
from tests import answers, sources

STRUCK, HIDDEN, NOTE = BlockKind.STRUCK, BlockKind.HIDDEN, BlockKind.NOTE
AGREEMENT = sources.hit(
    "The buyer pays each invoice within 60 days of receipt. The agreement runs for 24 months.",
    (STRUCK, "within 30 days of receipt"),
    (HIDDEN, "The agreement runs for 99 months and renews itself for ever."),
    name="agreement.pdf",
)
COMMENTED = sources.hit(
    "Delivery takes six weeks.", (NOTE, "Anna: The discount for early payment is 3 percent."), name="offer.pdf"
)


# --- kinds of lines ------------------------------------------------------------------------------------------


def test_labels_and_counts_of_the_kinds_of_lines() -> None:
    assert set_apart_labels(AGREEMENT.passage.lines) == ("struck out", "not visible on the page")
    assert set_apart_labels(COMMENTED.passage.lines[:1]) == ()
    assert line_counts([AGREEMENT.chunk, AGREEMENT.chunk]) == {BlockKind.TEXT: 1, STRUCK: 1, HIDDEN: 1}
    struck = AGREEMENT.of_kinds({STRUCK})
    assert struck is not None
    assert struck.passage.labelled_text() == "(struck out) within 30 days of receipt"


def test_a_hit_is_reduced_to_kinds_of_lines() -> None:
    valid = AGREEMENT.of_kinds(EVIDENCE)
    assert valid is not None
    assert "30 days" not in valid.passage.text
    assert valid.chunk.lines == valid.passage.lines
    assert COMMENTED.of_kinds(EVIDENCE) is COMMENTED
    assert COMMENTED.of_kinds(NO_EVIDENCE) is None


def test_lines_that_are_set_apart_are_no_head_of_a_table() -> None:
    table = "Pilots\t63\t60\nShips\t4,812\t4,570"
    passage = sources.passage((HIDDEN, "Rubbish in 2024 2023"), (BlockKind.TABLE, table))
    rows = [unit for unit in split_passage(passage) if unit.cells]
    assert [(unit.header, unit.section) for unit in rows] == [(None, None), (None, None)]
    assert [unit.kind for unit in split_passage(sources.passage((STRUCK, "Fees 2021 12 13")))] == [STRUCK]


# --- ingestion -----------------------------------------------------------------------------------------------


def test_what_the_page_does_not_say_identifies_no_document() -> None:
    lines = sources.lines((HIDDEN, "Bank statement"), "Lease of the pier.", (NOTE, "Check this."))
    text = identifying_text("lease.pdf", None, lines)
    assert "Lease of the pier." in text
    assert "Bank statement" not in text
    assert "Check this." not in text


def test_hidden_words_above_a_label_are_no_title() -> None:
    def block(text: str, y: float, kind: BlockKind) -> TextBlock:
        bbox = Rect(0.0, y, 300.0, y + 10)
        return TextBlock(page_number=1, bbox=bbox, line_start=int(y), line_end=int(y), text=text, kind=kind)

    label = block("(Exact name of registrant)", 22.0, BlockKind.TEXT)
    for kind, title in ((HIDDEN, None), (BlockKind.TEXT, "Wolf Trading Ltd")):
        above = block("Wolf Trading Ltd", 10.0, kind)
        lines = [one.model_copy(update={"lines": one.to_lines()}) for one in (above, label)]
        assert find_title(None, lines) == title


# --- search --------------------------------------------------------------------------------------------------


def _node(kind: BlockKind, score: float, page: int) -> NodeWithScore:
    return HitNode.of(sources.hit((kind, f"page {page}"), score=score, page_number=page, document_id=uuid.UUID(int=1)))


def _pages(nodes: list[NodeWithScore]) -> list[tuple[int, float]]:
    return [(hit.chunk.page_number, hit.final_score) for hit in to_hits(nodes)]


@pytest.mark.parametrize(("top_k", "order"), [(8, [2, 3, 1]), (2, [2, 1, 3]), (1, [1, 2, 3])])
def test_hidden_text_is_ranked_last_and_not_lost(top_k: int, order: list[int]) -> None:
    nodes = [_node(HIDDEN, 0.9, 1), _node(BlockKind.TEXT, 0.8, 2), _node(BlockKind.TEXT, 0.5, 3)]
    found = _pages(NoEvidenceLast(top_k=top_k, by_page=True).postprocess_nodes(nodes))
    assert [page for page, _ in found] == order
    scores = [score for _, score in found[:top_k]]
    assert scores == sorted(scores, reverse=True)


def test_much_hidden_text_takes_one_place_at_most() -> None:
    nodes = [_node(HIDDEN, 0.9 - page / 100, page) for page in range(1, 6)]
    nodes += [_node(BlockKind.TEXT, 0.5 - page / 100, page) for page in range(6, 12)]
    stage = NoEvidenceLast(top_k=4, by_page=True)
    found = _pages(stage.postprocess_nodes(nodes))
    assert [page for page, _ in found[:4]] == [6, 7, 8, 1]
    shown = _pages(stage.postprocess_nodes([_node(BlockKind.TEXT, 0.5, 1), _node(HIDDEN, 0.4, 2)]))
    assert shown == [(1, 0.5), (2, 0.4)]


# --- what a model reads --------------------------------------------------------------------------------------


def test_a_model_is_told_what_is_not_valid() -> None:
    text = build_context([AGREEMENT]).text
    assert "\n[struck out on the page] within 30 days of receipt\n" in text
    assert "\n[not visible on the page] The agreement runs for 99 months" in text
    assert "[comment on the page] Anna: The discount" in build_context([COMMENTED]).text
    for mark in prompts.CONTEXT_KINDS.values():
        assert mark in prompts.ANSWER_SYSTEM
        assert neutralise_marks(f"{mark} Fees") == f"⟦{mark[1:-1]}⟧ Fees"  # a file cannot forge it
    quote = QuotablePassage(AGREEMENT.passage).find("[struck out on the page] within 30 days of receipt")
    assert quote is not None


# --- verdicts ------------------------------------------------------------------------------------------------


class Approves:
    """A judge that takes every claim for supported by the words that it is told."""

    reads_all = True

    def __init__(self, words: str, support: Support = Support.SUPPORTED) -> None:
        self._verdict = MeaningVerdict(support, "strict-model", words=(ProposedQuote("S1", words, 0),))

    def judge(self, claims: Sequence[OpenClaim], prompted: Prompted) -> list[MeaningVerdict | None]:
        return [self._verdict for _ in claims]


def judged(
    claim: str, hit: Hit = AGREEMENT, *, quote: str | None = None, judge: Approves | None = None
) -> tuple[Sentence, tuple[Citation, ...]]:
    sentence = Sentence(text=claim, citation_ids=("S1",), start=0, end=len(claim))
    quotes = (ProposedQuote("S1", quote, 0),) if quote else ()
    grounder = Grounder({"S1": hit}, locate=sources.locate, judge=judge)
    ((found,), citations) = grounder.ground([Claim(sentence, quotes)], claim)
    return found, citations


@pytest.mark.parametrize(
    ("claim", "quote", "kind", "reason"),
    [
        ("The buyer pays within 30 days.", "within 30 days of receipt", STRUCK, "The words are struck out."),
        ("The buyer pays within 30 days of receipt.", None, STRUCK, "The words are struck out."),
        (
            "The agreement runs for 99 months.",
            "runs for 99 months",
            HIDDEN,
            "The words are not visible on the page.",
        ),
        ("The agreement runs for 99 months.", None, HIDDEN, "The words are not visible on the page."),
        ("It renews itself for ever.", None, HIDDEN, "The words are not visible on the page."),
    ],
)
def test_a_claim_that_rests_on_invalid_words_is_not_verified(
    claim: str, quote: str | None, kind: BlockKind, reason: str
) -> None:
    words = AGREEMENT.of_kinds({kind})
    assert words is not None
    for judge in (None, Approves(words.passage.text)):
        sentence, citations = judged(claim, quote=quote, judge=judge)
        assert (sentence.support, sentence.rests_on) == (Support.NOT_VERIFIED, kind)
        assert reason_of(sentence) == reason
        marked = [citation for citation in citations if {line.kind for line in citation.lines} == {kind}]
        assert marked
        assert all(citation.citation_id == "S1" and citation.quote and citation.regions for citation in marked)


@pytest.mark.parametrize(
    "claim", ["The agreement runs for 24 months.", "The buyer pays each invoice within 60 days of receipt."]
)
@pytest.mark.parametrize(
    "judge", [None, Approves("runs for 99 months", Support.CONTRADICTED), Approves("30 days", Support.CONTRADICTED)]
)
def test_invalid_words_contradict_nothing(claim: str, judge: Approves | None) -> None:
    sentence, citations = judged(claim, judge=judge)
    assert (sentence.support, sentence.rests_on) == (Support.SUPPORTED, None)
    assert all(line.kind is BlockKind.TEXT for citation in citations for line in citation.lines)


def test_a_verdict_on_valid_words_stands() -> None:
    judge = Approves("within 60 days of receipt", Support.CONTRADICTED)
    sentence, _ = judged("The buyer pays within 30 days.", quote="within 30 days of receipt", judge=judge)
    assert (sentence.support, sentence.rests_on) == (Support.CONTRADICTED, None)


@pytest.mark.parametrize(
    ("claim", "judge"),
    [
        ("“Within 30 days of receipt” was struck out.", None),
        ("The 30-day term was struck out.", Approves("within 30 days of receipt")),
        ("The renewal for ever is hidden.", Approves("renews itself for ever")),
    ],
)
def test_a_claim_about_invalid_words_may_cite_them(claim: str, judge: Approves | None) -> None:
    sentence, citations = judged(claim, judge=judge)
    assert (sentence.support, sentence.rests_on) == (Support.SUPPORTED, None)
    assert {STRUCK, HIDDEN} & {line.kind for citation in citations for line in citation.lines}


def test_a_page_with_nothing_valid_proves_nothing() -> None:
    hit = sources.hit((HIDDEN, "The award is 485,000 dollars."))
    sentence, citations = judged("The award is 485,000 dollars.", hit)
    assert (sentence.support, sentence.rests_on) == (Support.NOT_VERIFIED, HIDDEN)
    assert [citation.quote for citation in citations] == ["The award is 485,000 dollars."]


def test_an_export_says_that_a_quote_is_struck_out() -> None:
    sentence, citations = judged("The buyer pays within 30 days.", quote="within 30 days of receipt")
    response = AnswerResponse(
        status="ok",
        answer="The buyer pays within 30 days. [S1]",
        sentences=(sentence,),
        citations=citations,
        sources={"S1": AGREEMENT},
        model="strict-model",
    )
    (claim,) = claims_of(response)
    assert claim.evidence[0].set_apart == ("struck out",)


# --- quoted answers ------------------------------------------------------------------------------------------


def test_the_answer_is_the_visible_one() -> None:
    own = AGREEMENT.of_kinds(PAGE_TEXT)
    assert own is not None
    choice = choose("For how many months does the agreement run?", [own])
    assert [one.candidate.text for one in choice.extracts] == ["The agreement runs for 24 months."]


@pytest.mark.parametrize(
    ("question", "asks"),
    [("What do the comments say?", True), ("Was steht in den Kommentaren?", True), ("What is in note 8?", False)],
)
def test_questions_for_comments(question: str, *, asks: bool) -> None:
    assert asks_for_comments(question) is asks


def quoted(question: str, hit: Hit) -> AnswerResponse:
    return final_answer(answers.stream(question, [hit], llm=None))


def test_an_answer_without_a_model_never_quotes_invalid_words() -> None:
    response = quoted("For how many months does the agreement run?", AGREEMENT)
    assert "24 months" in response.answer
    assert "99 months" not in response.answer
    assert response.sources["S1"] is AGREEMENT  # with all its lines, which are shown with their labels
    only_hidden = sources.hit((HIDDEN, "The agreement runs for 99 months."))
    refused = quoted("For how many months does the agreement run?", only_hidden)
    assert (refused.status, refused.nearest) == ("insufficient_context", (only_hidden,))


def test_a_comment_answers_where_nothing_else_does() -> None:
    response = quoted("What is the discount for early payment?", COMMENTED)
    assert "3 percent" in response.answer
    assert response.hint == prompts.FROM_A_COMMENT
    (citation,) = response.citations
    assert set_apart_labels(citation.lines) == ("comment",)
    assert location_text(citation.lines).endswith(" (comment)")
    assert Mark.of_citation(citation, COMMENTED, "S1").title.startswith("comment · Anna")
    other = quoted("How long does delivery take?", COMMENTED)
    assert (other.hint, other.citations[0].lines[0].kind) == (None, BlockKind.TEXT)


def test_a_comment_that_is_asked_for_is_quoted() -> None:
    hit = sources.hit(
        "The discount for early payment is 2 percent.", (NOTE, "Anna: The discount for early payment is 3 percent.")
    )
    assert "3 percent" in quoted("What does the comment say of the discount for early payment?", hit).answer
    assert "3 percent" not in quoted("What is the discount for early payment?", hit).answer
