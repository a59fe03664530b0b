"""Claims that words do not prove: their evidence, the facts they need, and the judges of meaning."""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, ChatResponse

from rag.answering.text.markup import ProposedQuote
from rag.answering.verification.citations import Claim
from rag.answering.verification.grounding import Grounded, Grounder
from rag.answering.verification.judges import (
    NOTHING_PROMPTED,
    VERDICTS_SCHEMA,
    EntailmentJudge,
    LanguageModelJudge,
    MeaningJudge,
    MeaningVerdict,
    Prompted,
    judged_together,
)
from rag.answering.verification.open_claims import OpenClaim, missing_facts, open_claim
from rag.answering.verification.quote_matching import QuotablePassage
from rag.retrieval import Completions
from rag.types import AnswerOptions, AnswerResponse, AnswerStage, BlockKind, Hit, Sentence, Support
from tests import answers, sources
from tests.unit.test_answering import ScriptedLLM

HARBOUR = sources.hit(
    "The German harbour of Lindmark let twelve sailors go after the flood of May 2021. "
    "It guided 4,812 ships that year. Its master, Ada Vinter, founded the National Pilot Office.",
    (BlockKind.TABLE, "(in thousands)\t2021\t2020\nFees\t$9,140\t$8,655"),
    name="harbour.pdf",
)
LAID_OFF = "After the water came, 12 seamen lost their jobs."
PROVED_WORDS = "It guided 4,812 ships that year."


class Listed:
    """A stand-in for the model: entailed is what it was told."""

    threshold = 0.6

    def __init__(self, *entailed: str, value: float = 0.93) -> None:
        self._entailed = entailed
        self._value = value

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [self._value if claim in self._entailed else 0.2 for _, claim in pairs]


class Noted:
    """A judge that decides nothing and notes what it is asked."""

    def __init__(self, *, reads_all: bool = False) -> None:
        self.reads_all = reads_all
        self.asked: list[OpenClaim] = []
        self.prompted: list[Prompted] = []

    def judge(self, claims: Sequence[OpenClaim], prompted: Prompted) -> list[MeaningVerdict | None]:
        self.asked.extend(claims)
        self.prompted.append(prompted)
        return [None] * len(claims)


def by_meaning(*entailed: str, value: float = 0.93) -> EntailmentJudge:
    return EntailmentJudge(Listed(*entailed, value=value))  # type: ignore[arg-type]  # has what the judge uses


def ground(
    judge: MeaningJudge | None,
    *claims: str,
    hit: Hit = HARBOUR,
    others: Sequence[Hit] = (),
    prompted: Prompted = NOTHING_PROMPTED,
) -> Grounded:
    """Ground claims that cite `hit`, the first source of the answer; a bare "Yes." or "No." cites nothing."""
    found = {f"S{number}": one for number, one in enumerate([hit, *others], 1)}
    sentences = [
        Sentence(text=claim, citation_ids=() if claim in ("Yes.", "No.") else ("S1",), start=0, end=len(claim))
        for claim in claims
    ]
    grounder = Grounder(found, locate=sources.locate, judge=judge, prompted=prompted)
    return grounder.ground([Claim(one, ()) for one in sentences])


def missing(claim: str) -> tuple[str, ...]:
    passage = QuotablePassage(HARBOUR.passage)
    evidence = [piece for unit in passage.units for piece in passage.evidence(unit.span)]
    return missing_facts(claim, evidence, [passage.text])


# --- facts ---


@pytest.mark.parametrize(
    ("claim", "lacking"),
    [
        (LAID_OFF, ()),
        ("There 41 seamen lost their jobs.", ("41",)),
        ("Nine seamen lost their jobs.", ("Nine",)),
        ("Seamen lost their jobs in June.", ("June",)),
        ("Seamen in Germany lost their jobs.", ()),
        ("The NPO was begun by Vinter.", ()),
        ("It was begun by Marlow.", ("Marlow",)),
        ("Seamen lost their jobs in 2020.", ()),  # a year of the table's columns
        ("It led 4,812 boats.", ()),
        ("It led €4,812 of boats.", ("4,812",)),
    ],
)
def test_facts_that_the_evidence_lacks(claim: str, lacking: tuple[str, ...]) -> None:
    assert missing(claim) == lacking


@pytest.mark.parametrize(
    ("claim", "lacking"),
    [
        ("The quay is 11 metres long.", ("11 metres",)),
        ("The quay measures 11 kilometres.", ()),
        ("Divers see to it every 30 months.", ("30 months",)),
        ("Divers see to it in 30-day turns.", ()),
        ("Divers see to it 30 times.", ()),  # no measure
        ("Piles weigh 2 t.", ("2 t",)),
    ],
)
def test_a_figure_with_another_measure_is_lacking(claim: str, lacking: tuple[str, ...]) -> None:
    quay = QuotablePassage(
        sources.hit("The quay is 11 km long. Divers inspect it every 30 days. Each pile weighs 2 kg more.").passage
    )
    evidence = [piece for unit in quay.units for piece in quay.evidence(unit.span)]
    assert missing_facts(claim, evidence) == lacking


@pytest.mark.parametrize(
    ("claim", "source", "lacking"),
    [
        ("Tolls went up in the U.S. lately.", "Tolls rose in the U.S. in June.", ()),
        ("Tolls went up in the US lately.", "Tolls rose in the U.S. in June.", ()),
        ("Tolls went up in the U.S. lately.", "Tolls rose in the United States in June.", ()),
        ("Tolls went up in the United States lately.", "Tolls rose in the US in June.", ()),
        ("Tolls went up in the U.S. lately.", "Tolls rose in the U.K. in June.", ("U.S.",)),
        ("Tolls went up in the US lately.", "They told us that tolls rose.", ("US",)),
    ],
)
def test_initials_stand_for_a_name(claim: str, source: str, lacking: tuple[str, ...]) -> None:
    passage = QuotablePassage(sources.hit(source).passage)
    assert missing_facts(claim, passage.evidence(passage.units[0].span)) == lacking


def test_a_year_from_elsewhere_on_the_page_proves_nothing() -> None:
    passage = QuotablePassage(HARBOUR.passage)
    evidence = passage.evidence(passage.units[0].span)
    assert missing_facts("Seamen lost their jobs in 2020.", evidence, [passage.text]) == ("2020",)


# --- evidence ---


def test_a_claim_that_only_rearranges_the_evidence_is_not_accepted_by_the_model() -> None:
    rearranged = "Twelve sailors founded the National Pilot Office after the flood of May 2021."
    ((sentence,), _) = ground(by_meaning(rearranged), rearranged)
    assert sentence.support is not Support.SUPPORTED
    ((sentence,), _) = ground(by_meaning(LAID_OFF), LAID_OFF)
    assert sentence.support is Support.SUPPORTED


def test_evidence_keeps_reading_order_and_rows_stand_below_their_head() -> None:
    passages = {"S1": QuotablePassage(HARBOUR.passage)}
    claim = open_claim("It collected fees of $9,140 thousand.", passages, {})
    assert [place.text.split()[0] for place in claim.sentences[:3]] == ["The", "It", "Its"]
    assert claim.sentences[-1].text == "(in thousands) | 2021 | 2020\nFees | $9,140 | $8,655"
    assert claim.rests_on_rows
    assert not open_claim("Fees were paid.", passages, {}).rests_on_rows


def test_rows_need_a_surer_model() -> None:
    claim = "The dues taken in came to $9,140 thousand that year."
    ((sentence,), _) = ground(by_meaning(claim, value=0.7), claim)
    assert sentence.support is not Support.SUPPORTED
    ((sentence,), _) = ground(by_meaning(claim, value=0.9), claim)
    assert sentence.support is Support.SUPPORTED


def test_the_sentence_before_counts_only_if_the_claim_refers_back() -> None:
    passages = {"S1": QuotablePassage(HARBOUR.passage)}
    assert open_claim("It led boats.", passages, {}, before="Lindmark is a harbour.").before == "Lindmark is a harbour."
    assert open_claim("Boats were led.", passages, {}, before="Lindmark is a harbour.").before == ""


@pytest.mark.parametrize(
    ("claim", "name", "asked"),
    [
        ("Norrtug foresees harm.", "NORRTUG_2022_10K.pdf", "The company foresees harm."),
        ("If the Norrtug Company sells Norrtug's tugs", "norrtug.pdf", "If the company sells the company's tugs"),
        ("Vassvik Rederi foresees harm.", "VassvikRederi 10-K.pdf", "The company foresees harm."),
        ("Vassvik Inc. foresees harm.", "Vassvik.pdf", "The company foresees harm."),
        ("Harm is foreseen by Vassvik.", "Vassvik.pdf", "Harm is foreseen by the company."),
        ("Vassvik foresees harm.", "Norrtug and Vassvik.pdf", "Vassvik foresees harm."),  # not its first words
        ("Annual harm is foreseen.", "Annual report.pdf", "Annual harm is foreseen."),  # no name
        ("The norrtug foresees harm.", "norrtug.pdf", "The norrtug foresees harm."),
        ("Tromsund foresees harm.", "Tromsund.pdf", "Tromsund foresees harm."),  # the document names it, too
    ],
)
def test_the_name_of_the_document_is_the_company_where_it_says_we(claim: str, name: str, asked: str) -> None:
    hit = sources.hit("We expect losses in Tromsund.", name=name)
    assert asked_of(claim, hit) == [asked]
    assert asked_of(claim, sources.hit("Harbours expect losses in Tromsund.", name=name)) == [claim]  # no "we"


def test_of_two_documents_neither_is_the_company() -> None:
    hits = [sources.hit("We expect losses.", name=f"{name}.pdf") for name in ("Norrtug", "Vassvik")]
    assert asked_of("Norrtug foresees losses.", *hits) == ["Norrtug foresees losses."]


def test_another_name_is_still_missing() -> None:
    hit = sources.hit("We sold the tugs to Vassvik in June.", name="Norrtug.pdf")
    sold, other_buyer = "The tugs were bought by Vassvik from Norrtug.", "The tugs were bought by Rederi from Norrtug."
    judge = by_meaning(*(claim.replace("Norrtug", "the company") for claim in (sold, other_buyer)))
    (true, false), _ = ground(judge, sold, other_buyer, hit=hit)
    assert true.support is Support.SUPPORTED
    assert false.support is not Support.SUPPORTED


def asked_of(claim: str, *hits: Hit) -> list[str]:
    """Return what the judge is asked about a claim that cites `hits`."""
    judge = Noted()
    found = {f"S{number}": hit for number, hit in enumerate(hits, 1)}
    sentence = Sentence(text=claim, citation_ids=tuple(found), start=0, end=len(claim))
    Grounder(found, locate=sources.locate, judge=judge).ground([Claim(sentence, ())])
    return [one.text for one in judge.asked]


# --- the entailment model ---


def test_a_paraphrase_is_supported_by_meaning_and_quotes_its_sentence() -> None:
    ((sentence,), citations) = ground(by_meaning(LAID_OFF), LAID_OFF)
    assert (sentence.support, sentence.judged_by, sentence.probability) == (Support.SUPPORTED, "meaning", 0.93)
    assert sentence.basis == "same meaning, p = 0.93"
    assert citations[0].quote is not None
    assert citations[0].quote.startswith("The German harbour")


def test_without_a_judge_a_paraphrase_stays_open() -> None:
    ((sentence,), _) = ground(None, LAID_OFF)
    assert sentence.support in (Support.NOT_VERIFIED, Support.PARTLY)
    assert sentence.probability is None


@pytest.mark.parametrize(
    "claim", ["After the water came, 41 seamen lost their jobs.", "Seamen of Marlow lost their jobs."]
)
def test_facts_are_a_veto(claim: str) -> None:
    ((sentence,), _) = ground(by_meaning(claim), claim)
    assert sentence.support is not Support.SUPPORTED


@pytest.mark.parametrize(
    ("replaced", "value", "is_supported"),
    [("mariners", 0.93, True), ("mariners", 0.7, False), ("Mariners", 0.93, False)],
)
def test_a_word_in_place_of_another_needs_a_surer_model_and_a_name_is_a_fact(
    replaced: str, value: float, is_supported: bool
) -> None:
    claim = f"The German harbour of Lindmark let twelve {replaced} go after the flood of May 2021."
    ((sentence,), _) = ground(by_meaning(claim, value=value), claim)
    assert (sentence.support is Support.SUPPORTED) is is_supported
    ((paraphrase,), _) = ground(by_meaning(LAID_OFF, value=value), LAID_OFF)
    assert paraphrase.support is Support.SUPPORTED


@pytest.mark.parametrize(("value", "support"), [(0.55, Support.NOT_VERIFIED), (0.45, Support.CONTRADICTED)])
def test_what_the_model_takes_for_entailed_is_not_struck_out_and_not_supported(value: float, support: Support) -> None:
    claim = "It did not guide ships that year."
    ((by_words,), _) = ground(None, claim)
    assert by_words.support is Support.CONTRADICTED
    ((sentence,), _) = ground(by_meaning(claim, value=value), claim)
    assert (sentence.support, sentence.missing) == (support, by_words.missing)


def test_a_wrong_figure_is_struck_out_whatever_the_model_says() -> None:
    claim = "It guided 5,000 ships that year."
    ((sentence,), _) = ground(by_meaning(claim), claim)
    assert sentence.support is Support.CONTRADICTED


def test_what_only_small_words_change_is_not_left_to_the_model() -> None:
    claim = "The harbour of Lindmark did not let twelve sailors go after the flood of May 2021."
    ((sentence,), _) = ground(by_meaning(claim), claim)
    assert sentence.support is not Support.SUPPORTED


def test_same_words_are_not_asked_about() -> None:
    ((sentence,), _) = ground(by_meaning(), "It guided 4,812 ships that year.")
    assert (sentence.support, sentence.basis) == (Support.SUPPORTED, "same words")


# --- the language model ---


def by_model(reply: object, second: EntailmentJudge | None = None) -> LanguageModelJudge:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return LanguageModelJudge(Completions(ScriptedLLM(reply=text), None), "some-model", second)


def verdict(
    kind: str, *, claim: int = 1, words: Sequence[tuple[str, str]] = (), missing: str = ""
) -> dict[str, object]:
    """One object of a reply as the schema has it."""
    copied = [{"source": source, "text": text} for source, text in words]
    return {"claim": claim, "words": copied, "missing": missing, "verdict": kind}


SAILORS = "let twelve sailors go after the flood of May 2021"


def test_a_language_model_judges_and_its_words_are_located_and_cited() -> None:
    reply = json.dumps([verdict("supported", words=[("S1", SAILORS)])])
    ((sentence,), citations) = ground(by_model(f"Here it is:\n{reply}\n"), LAID_OFF)
    assert (sentence.support, sentence.basis) == (Support.SUPPORTED, "judged by some-model")
    assert [(citation.citation_id, citation.quote) for citation in citations] == [("S1", SAILORS)]
    assert citations[0].regions


def test_a_reply_may_be_an_object_as_the_schema_has_it() -> None:
    reply = {"verdicts": [verdict("supported", words=[("S1", SAILORS)])]}
    assert [*reply] == VERDICTS_SCHEMA["required"]
    assert [*reply["verdicts"][0]] == VERDICTS_SCHEMA["properties"]["verdicts"]["items"]["required"]
    ((sentence,), _) = ground(by_model(reply), LAID_OFF)
    assert sentence.support is Support.SUPPORTED


@pytest.mark.parametrize(
    ("words", "cited"),
    [
        ([("[S1]", SAILORS)], [("S1", SAILORS)]),
        ([("", SAILORS)], [("S1", SAILORS)]),
        ([("S7", SAILORS)], [("S1", SAILORS)]),
        ([("S2", SAILORS)], [("S1", SAILORS)]),  # copied from S1, named S2
        ([("S2", "The crews were paid until June.")], [("S1", None), ("S2", "The crews were paid until June.")]),
        ([("S1", "Words that stand nowhere.")], [("S1", None)]),
        ([("S1", "Fees | $9,140")], [("S1", "Fees\t$9,140")]),
    ],
)
def test_words_are_cited_from_the_source_that_has_them(
    words: list[tuple[str, str]], cited: list[tuple[str, str | None]]
) -> None:
    other = sources.hit("The crews were paid until June.", name="crews.pdf")
    judge = by_model([verdict("supported", words=words)])
    ((sentence,), citations) = ground(judge, LAID_OFF, others=[other])
    assert sentence.support is Support.SUPPORTED
    assert [(citation.citation_id, citation.quote) for citation in citations] == cited


def test_a_claim_that_is_judged_without_words_shows_those_that_its_writer_quotes() -> None:
    quote = "Its fees\nhave not changed"
    sentence = Sentence(text="Costs stayed as they were.", citation_ids=("S1",), start=0, end=26)
    hit = sources.hit("The costs of the flood stayed high. Its fees have not changed since 2018. It rains.")
    grounder = Grounder({"S1": hit}, locate=sources.locate, judge=by_model([verdict("supported")]))
    ((judged,), citations) = grounder.ground([Claim(sentence, (ProposedQuote("S1", quote, 0),))])
    assert judged.support is Support.SUPPORTED
    assert [citation.quote for citation in citations][:1] == ["Its fees have not changed"]


@pytest.mark.parametrize("name", ["S2", "[S2]"])
def test_of_equal_words_those_of_the_named_source_are_cited(name: str) -> None:
    other = sources.hit(f"Again: it {SAILORS}.", name="crews.pdf")
    (_, citations) = ground(by_model([verdict("supported", words=[(name, SAILORS)])]), LAID_OFF, others=[other])
    assert [(citation.citation_id, citation.quote) for citation in citations] == [("S1", None), ("S2", SAILORS)]


@pytest.mark.parametrize(
    ("kind", "support"),
    [("partly", Support.PARTLY), ("contradicted", Support.CONTRADICTED), ("not_stated", Support.NOT_STATED)],
)
def test_a_language_model_names_what_is_missing(kind: str, support: Support) -> None:
    ((sentence,), _) = ground(by_model([verdict(kind, missing=" the jobs ")]), LAID_OFF)
    assert (sentence.support, sentence.missing) == (support, ("the jobs",))


def test_a_language_model_gets_all_statements_with_the_question_and_the_sources() -> None:
    claims = ["Yes.", "It guided 4,812 ships that year.", "It did not guide ships that year.", LAID_OFF]
    prompted = Prompted("How many ships?", {"S1": "[S1] harbour.pdf …"})
    judge = Noted(reads_all=True)
    ground(judge, *claims, prompted=prompted)
    assert [one.wording for one in judge.asked] == claims
    assert [one.is_decided for one in judge.asked] == [False, True, False, False]
    assert judge.prompted == [prompted]
    llm = ScriptedLLM(reply="[]")
    ground(LanguageModelJudge(Completions(llm, None), "some-model"), *claims, prompted=prompted)
    (asked,) = llm.asked
    assert "Question: How many ships?" in asked
    assert "[S1] harbour.pdf …" in asked
    assert "(1) Yes.\n(2) It guided 4,812 ships that year.\n(3) It did not" in asked


class ReadingLLM(ScriptedLLM):
    """Judges that a claim is supported if its berth stands in the sources of the prompt, else not stated."""

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        prompt = messages[-1].content or ""
        self._asked.append(prompt)
        sources, _, claims = prompt.rpartition("Claims of the answer:")
        verdicts = [
            verdict("supported" if f"[{berth}]" in sources else "not_stated", claim=int(number))
            for number, berth in re.findall(r"\((\d+)\) Berth (\w+)", claims)
        ]
        return ChatResponse(message=ChatMessage(role="assistant", content=json.dumps({"verdicts": verdicts})))


def test_claims_are_judged_in_batches_by_the_sources_that_they_cite() -> None:
    texts = {f"S{n}": f"[S{n}] harbour.pdf\n" + "It is told of this berth at length. " * 60 for n in range(1, 7)}
    claims = [OpenClaim(f"Berth S{n}", (), wording=f"Berth S{n}", citation_ids=(f"S{n}",)) for n in range(1, 7)]
    whole, narrow = ReadingLLM(reply=""), ReadingLLM(reply="", window=2500)
    for llm, requests in ((whole, 1), (narrow, 6)):
        judge = LanguageModelJudge(Completions(llm, None), "some-model")
        verdicts = judge.judge(claims, Prompted("Which berths?", texts))
        assert [one and one.support for one in verdicts] == [Support.SUPPORTED] * 6
        assert 1 <= len(llm.asked) <= requests
    assert len(narrow.asked) > 1
    assert "[S6]" not in narrow.asked[0]


@pytest.mark.parametrize(
    ("cited", "room", "expected"),
    [
        ([["S1"], ["S2"], []], 1000, [([0, 1, 2], ["S1", "S2", "S3"])]),  # all fit
        ([["S1"], ["S2"], ["S1"]], 45, [([0, 1, 2], ["S1", "S2"])]),
        ([["S1"], ["S2"], [], ["S3"]], 45, [([0, 1], ["S1", "S2"]), ([3], ["S3"])]),  # nothing cited: not here
        ([["S1", "S2", "S3"], ["S2"]], 45, [([1], ["S2"])]),  # more than fits: not here
        ([["S1"]], 0, []),
    ],
)
def test_which_claims_are_judged_together(
    cited: list[list[str]], room: int, expected: list[tuple[list[int], list[str]]]
) -> None:
    texts = {id_: f"{id_} " + "word " * 16 for id_ in ("S1", "S2", "S3")}
    batches = judged_together(cited, texts, room)
    assert [([*claims], [text.split()[0] for text in sources]) for claims, sources in batches] == expected


def test_the_entailment_model_gets_what_words_leave_open() -> None:
    judge = Noted()
    ground(judge, "Yes.", "It guided 4,812 ships that year.", "It guided 5,000 ships that year.", LAID_OFF)
    assert [one.wording for one in judge.asked] == [LAID_OFF]


def test_only_a_language_model_judges_beside_other_sentences_that_the_sources_do_not_tell() -> None:
    refusal = "I can't tell this from the provided documents."
    for claims, asked in (([refusal], []), ([refusal, LAID_OFF], [refusal, LAID_OFF])):
        model, small = Noted(reads_all=True), Noted()
        ground(model, *claims)
        ground(small, *claims)
        assert [one.wording for one in model.asked] == asked
        assert [one.wording for one in small.asked] == asked[1:]


def test_a_bare_reply_has_the_verdict_of_the_language_model() -> None:
    claims = ["No.", "It guided 4,812 ships that year."]
    ((alone, _), _) = ground(None, *claims)
    assert alone.support is None
    for kind in ("supported", "contradicted"):
        judge = by_model([verdict(kind, words=[("S1", "It guided 4,812 ships that year.")])])
        ((reply, _), citations) = ground(judge, *claims)
        assert (reply.support, reply.judged_by) == (Support(kind), "some-model")
        assert citations[0].quote == "It guided 4,812 ships that year."


def test_figures_of_another_column_are_not_verified_whatever_a_language_model_says() -> None:
    rows = "(in thousands)\t2021\t2020\nGross profit\t22,149\t25,858\nFees\t9,140\t8,655"
    hit = sources.hit("Accounts of the pilots", (BlockKind.TABLE, rows))
    said = ["Gross profit in 2021 was $25,858 thousand.", "Gross profit in 2020 was $25,858 thousand."]
    sentences = [Sentence(text=text, citation_ids=("S1",), start=0, end=len(text)) for text in said]
    judge = by_model([verdict("supported", claim=number) for number in (1, 2)])
    grounder = Grounder({"S1": hit}, locate=sources.locate, judge=judge)
    (wrong, right), _ = grounder.ground([Claim(sentence, ()) for sentence in sentences])
    assert (wrong.support, wrong.missing) == (Support.NOT_VERIFIED, ("25,858 thousand",))
    assert right.support is Support.SUPPORTED


@pytest.mark.parametrize(
    ("said", "support"),
    [
        ("In 2023 the net profit was 15% of revenue.", Support.SUPPORTED),
        ("Revenue rose by 20 in 2023.", Support.SUPPORTED),
        ("In 2023 the duty rate was 41%.", Support.NOT_VERIFIED),
    ],
)
def test_a_share_or_change_that_follows_is_none_of_another_column(said: str, support: Support) -> None:
    rows = "\t2023\t2021\nRevenue\t200\t180\nNet profit\t30\t20\nTax rate\t22%\t15%\nDuty rate\t8%\t41%"
    hit = sources.hit("Accounts of the pilots", (BlockKind.TABLE, rows))
    sentence = Sentence(text=said, citation_ids=("S1",), start=0, end=len(said))
    grounder = Grounder({"S1": hit}, locate=sources.locate, judge=by_model([verdict("supported")]))
    quotes = [ProposedQuote("S1", words, 0) for words in ("Revenue | 200 | 180", "Net profit | 30 | 20")]
    ((judged,), _) = grounder.ground([Claim(sentence, tuple(quotes))])
    assert judged.support is support


def test_what_a_source_says_word_for_word_is_supported_though_it_computes_wrongly() -> None:
    said = "The pilots paid 3 + 4 = 8 crowns in the harbour."
    sentence = Sentence(text=said, citation_ids=("S1",), start=0, end=len(said))
    grounder = Grounder({"S1": sources.hit(said)}, locate=sources.locate, judge=by_model([verdict("supported")]))
    ((judged,), _) = grounder.ground([Claim(sentence, ())])
    assert judged.support is Support.SUPPORTED


@pytest.mark.parametrize(
    ("said", "support"), [("It rises by $771.98.", Support.SUPPORTED), ("It rises by $771.99.", Support.PARTLY)]
)
def test_a_figure_may_follow_from_quotes_that_have_no_word_of_the_claim(said: str, support: Support) -> None:
    rows = "Period\tRate\tMonthly\n12/01/06 - 11/30/07\t$ 25.20\t$ 19,261.20\n12/01/07 - 11/30/08\t$ 26.21\t$ 20,033.18"
    hit = sources.hit("Base rent of the quay", (BlockKind.TABLE, rows))
    sentence = Sentence(text=said, citation_ids=("S1",), start=0, end=len(said))
    quotes = [ProposedQuote("S1", words, 0) for words in ("$ 25.20 | $ 19,261.20", "$ 26.21 | $ 20,033.18")]
    grounder = Grounder({"S1": hit}, locate=sources.locate, judge=by_model([verdict("supported")]))
    ((judged,), _) = grounder.ground([Claim(sentence, tuple(quotes))])
    assert judged.support is support


@pytest.mark.parametrize("kind", ["supported", "not_stated"])
def test_a_language_model_also_decides_where_words_contradict(kind: str) -> None:
    claim = "It did not guide ships that year."
    ((by_words,), _) = ground(None, claim)
    assert by_words.support is Support.CONTRADICTED
    ((sentence,), _) = ground(by_model([verdict(kind)]), claim)
    assert (sentence.support, sentence.judged_by) == (Support(kind), "some-model")


@pytest.mark.parametrize("kind", ["partly", "contradicted", "not_stated"])
@pytest.mark.parametrize(
    ("claim", "is_lowered"),
    [
        ("It guided 4,812 ships that year.", False),
        ("It **guided** 4,812 ships that year", False),
        ("That year, it guided 4,812 ships.", True),
        ("4,812 ships.", True),  # that these words answer the question is not in the source
    ],
)
def test_a_sentence_that_its_source_has_word_for_word_is_not_lowered(claim: str, kind: str, is_lowered: bool) -> None:
    ((alone,), _) = ground(None, claim)
    assert alone.support is not None
    assert alone.support.is_proved
    ((sentence,), _) = ground(by_model([verdict(kind)]), claim)
    assert (sentence.support is Support(kind)) is is_lowered
    assert (sentence.support is alone.support) is not is_lowered


@pytest.mark.parametrize(
    ("claim", "absent"),
    [
        ("After the water came, 4,182 seamen lost their jobs.", ("4,182",)),
        ("After the water came, €41 million were lost.", ("€41 million",)),
        ("After the water came, 41 seamen lost their jobs.", ()),  # a reader may count them
        ("After the water came, fees of $9,140 thousand were $485 thousand more.", ()),  # 9,140 - 8,655
        ("After the water came, wages of $1,377 were paid.", ()),  # in the other source
    ],
)
def test_a_figure_that_is_in_no_source_is_missing_whatever_a_language_model_says(
    claim: str, absent: tuple[str, ...]
) -> None:
    wages = sources.hit("Wages were $1,377.", name="wages.pdf")
    ((sentence,), _) = ground(by_model([verdict("supported")]), claim, others=[wages])
    assert sentence.support is (Support.PARTLY if absent else Support.SUPPORTED)
    assert sentence.missing == tuple(figure.strip("€") for figure in absent)


UNREADABLE = ["", "I cannot.", "[{]", '[{"claim": "x"}]', [verdict("not")], [verdict("supported", claim=9)]]


@pytest.mark.parametrize("reply", UNREADABLE)
def test_a_reply_that_says_nothing_leaves_the_verdict_of_words(reply: object) -> None:
    ((alone,), _) = ground(None, LAID_OFF)
    ((sentence,), _) = ground(by_model(reply), LAID_OFF)
    assert (sentence.support, sentence.missing) == (alone.support, alone.missing)


@pytest.mark.parametrize("reply", UNREADABLE)
def test_the_entailment_model_decides_what_words_leave_open_where_the_reply_says_nothing(reply: object) -> None:
    rearranged = "It guided 5,000 ships that year."
    second = by_meaning(LAID_OFF, rearranged)
    ((proved, open_one, wrong), _) = ground(by_model(reply, second), PROVED_WORDS, LAID_OFF, rearranged)
    assert (proved.support, proved.judged_by) == (Support.SUPPORTED, "words")
    assert (open_one.support, open_one.judged_by) == (Support.SUPPORTED, "meaning")
    assert wrong.support is Support.CONTRADICTED


def test_a_claim_without_a_reply_goes_to_the_entailment_model() -> None:
    other = "Twelve crew had to leave."
    reply = [verdict("supported", claim=1), verdict("not_stated", claim=3)]
    (found, _) = ground(by_model(reply, by_meaning(LAID_OFF, other)), other, LAID_OFF, "Boats were led.")
    assert [(one.support, one.judged_by) for one in found] == [
        (Support.SUPPORTED, "some-model"),
        (Support.SUPPORTED, "meaning"),
        (Support.NOT_STATED, "some-model"),
    ]


def test_a_reply_that_is_cut_off_counts_as_far_as_it_goes() -> None:
    whole = json.dumps({"verdicts": [verdict("not_stated", missing="x"), verdict("not_stated", claim=2, missing="y")]})
    for end in range(whole.index("y"), len(whole) - 4):
        ((first, second), _) = ground(by_model(whole[:end]), "Boats were led.", LAID_OFF)
        assert first.support is Support.NOT_STATED
        assert second.support is not Support.SUPPORTED


# --- whole answers ---


class Asked(EntailmentJudge):
    """A judge that counts how often it was asked."""

    def __init__(self, *entailed: str) -> None:
        super().__init__(Listed(*entailed))  # type: ignore[arg-type]  # has what the judge uses
        self.times = 0

    def judge(self, claims: Sequence[OpenClaim], prompted: Prompted = NOTHING_PROMPTED) -> list[MeaningVerdict | None]:
        self.times += 1
        return super().judge(claims, prompted)


PROVED = f"{PROVED_WORDS[:-1]} [S1]."


def written(judge: MeaningJudge | None, reply: str, **options: bool) -> tuple[list[AnswerResponse], AnswerResponse]:
    """The answers that were shown while they were judged, and the final one."""
    *events, response = answers.stream(
        "What happened at the harbour?",
        [HARBOUR],
        llm=ScriptedLLM(reply=reply),
        judge=judge,
        options=AnswerOptions(**options),
    )
    assert isinstance(response, AnswerResponse)
    assert [event.so_far is not None for event in events if isinstance(event, AnswerStage)] in ([False], [False, True])
    return [event.so_far for event in events if isinstance(event, AnswerStage) and event.so_far], response


def verdicts(response: AnswerResponse) -> list[tuple[Support | None, str | None]]:
    return [(sentence.support, sentence.judged_by) for sentence in response.sentences]


def test_an_answer_is_shown_with_the_verdicts_of_words_while_it_is_judged() -> None:
    judge = Asked(LAID_OFF)
    ((so_far,), response) = written(judge, f"{PROVED} {LAID_OFF[:-1]} [S1].")
    assert judge.times == 1
    assert so_far.answer == response.answer
    assert verdicts(so_far) == [(Support.SUPPORTED, "words"), (Support.NOT_VERIFIED, None)]
    assert verdicts(response) == [(Support.SUPPORTED, "words"), (Support.SUPPORTED, "meaning")]
    assert so_far.citations[0] == response.citations[0]
    assert so_far.citations[1].quote is None
    assert response.citations[1].quote is not None


def test_an_answer_that_words_decide_is_not_judged() -> None:
    judge = Asked()
    assert written(judge, PROVED)[0] == []
    assert judge.times == 0
    assert written(None, f"{PROVED} {LAID_OFF[:-1]} [S1].")[0] == []


def test_an_answer_without_a_quote_is_shown_only_when_it_is_judged() -> None:
    so_far, response = written(by_meaning(LAID_OFF), f"{LAID_OFF[:-1]} [S1].")
    assert so_far == []
    assert verdicts(response) == [(Support.SUPPORTED, "meaning")]


def test_what_is_not_yet_proved_is_dropped_until_it_is() -> None:
    reply = f"{PROVED} {LAID_OFF[:-1]} [S1]."
    ((so_far,), response) = written(by_meaning(LAID_OFF), reply, drop_unsupported=True)
    assert so_far.answer == PROVED
    assert response.answer == reply
