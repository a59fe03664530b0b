"""Claims that words do not prove: their evidence, the facts they need, and the judges of meaning."""

import json
from collections.abc import Sequence

import pytest

from rag.answering.text.markup import ProposedQuote
from rag.answering.verification.citations import Claim
from rag.answering.verification.grounding import Grounded, Grounder
from rag.answering.verification.meaning import EntailmentJudge, LanguageModelJudge, MeaningJudge, MeaningVerdict
from rag.answering.verification.missing_facts import missing_facts
from rag.answering.verification.open_claims import OpenClaim, open_claim
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


class Listed:
    """A stand-in for the model: entailed is what it was told."""

    threshold = 0.6

    def __init__(self, *entailed: str, value: float = 0.93) -> None:
        self._entailed = entailed
        self._value = value

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [self._value if claim in self._entailed else 0.2 for _, claim in pairs]


def by_meaning(*entailed: str, value: float = 0.93) -> EntailmentJudge:
    return EntailmentJudge(Listed(*entailed, value=value))  # type: ignore[arg-type]  # has what the judge uses


def ground(judge: MeaningJudge | None, *claims: str, hit: Hit = HARBOUR, quote: str | None = None) -> Grounded:
    sentences = [Sentence(text=claim, citation_ids=("S1",), start=0, end=len(claim)) for claim in claims]
    quotes = (ProposedQuote("S1", quote, 0),) if quote else ()
    return Grounder({"S1": hit}, locate=sources.locate, judge=judge).ground([Claim(one, quotes) for one in sentences])


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


def test_evidence_keeps_reading_order_and_leaves_out_rows_for_figures() -> None:
    passages = {"S1": QuotablePassage(HARBOUR.passage)}
    with_figure = open_claim("It led 4,812 boats.", passages, {})
    assert [place.text.split()[0] for place in with_figure.places] == ["The", "It", "Its"]
    without = open_claim("Fees were paid.", passages, {})
    assert any("Fees" in place.text for place in without.places)


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
    asked: list[str] = []

    class Asked:
        def judge(self, claims: Sequence[OpenClaim]) -> list[MeaningVerdict | None]:
            asked.extend(one.text for one in claims)
            return [None] * len(claims)

    found = {f"S{number}": hit for number, hit in enumerate(hits, 1)}
    sentence = Sentence(text=claim, citation_ids=tuple(found), start=0, end=len(claim))
    Grounder(found, locate=sources.locate, judge=Asked()).ground([Claim(sentence, ())])
    return asked


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


def test_a_language_model_is_not_asked_about_what_words_contradict() -> None:
    judge = by_model(verdict("supported"))
    ((sentence,), _) = ground(judge, "It did not guide ships that year.")
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


def verdict(kind: str, **fields: object) -> list[dict[str, object]]:
    return [{"claim": 1, "verdict": kind, "sentences": [1], **fields}]


def test_a_language_model_judges_and_is_named() -> None:
    ((sentence,), citations) = ground(by_model(f"Here it is:\n{json.dumps(verdict('supported'))}\n"), LAID_OFF)
    assert (sentence.support, sentence.basis) == (Support.SUPPORTED, "judged by some-model")
    assert citations[0].quote is not None


def test_a_reply_may_be_an_object_as_the_schema_has_it() -> None:
    ((sentence,), _) = ground(by_model({"verdicts": verdict("supported", missing="")}), LAID_OFF)
    assert sentence.support is Support.SUPPORTED


def test_a_language_model_names_what_is_missing() -> None:
    ((sentence,), _) = ground(by_model(verdict("partly", missing="the jobs")), LAID_OFF)
    assert (sentence.support, sentence.missing) == (Support.PARTLY, ("the jobs",))


def test_facts_are_a_veto_for_a_language_model_too() -> None:
    ((sentence,), _) = ground(by_model(verdict("supported")), "After the water came, 41 seamen lost their jobs.")
    assert sentence.support is not Support.SUPPORTED
    assert "41" in sentence.missing


@pytest.mark.parametrize("reply", ["", "I cannot.", "[{]", '[{"claim": "x"}]', verdict("not")])
def test_a_reply_that_proves_nothing_leaves_the_verdict_of_words(reply: object) -> None:
    ((alone,), _) = ground(None, LAID_OFF)
    ((sentence,), _) = ground(by_model(reply), LAID_OFF)
    assert (sentence.support, sentence.missing) == (alone.support, alone.missing)


def test_the_entailment_model_decides_where_the_reply_is_unreadable() -> None:
    ((sentence,), _) = ground(by_model("What?", by_meaning(LAID_OFF)), LAID_OFF)
    assert (sentence.support, sentence.judged_by) == (Support.SUPPORTED, "meaning")


def test_sentences_that_do_not_exist_are_ignored() -> None:
    ((sentence,), citations) = ground(by_model(verdict("supported", sentences=[0, 99])), LAID_OFF)
    assert sentence.support is Support.SUPPORTED
    assert citations[0].quote is not None


# --- whole answers ---


class Asked(EntailmentJudge):
    """A judge that counts how often it was asked."""

    def __init__(self, *entailed: str) -> None:
        super().__init__(Listed(*entailed))  # type: ignore[arg-type]  # has what the judge uses
        self.times = 0

    def judge(self, claims: Sequence[OpenClaim]) -> list[MeaningVerdict | None]:
        self.times += 1
        return super().judge(claims)


PROVED = "It guided 4,812 ships that year [S1]."


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
