"""The sentence or row that answers, and what is said where none does."""

from collections.abc import Sequence

import pytest

from rag import providers
from rag.answering.extraction import extractive_answer, question_intent
from rag.answering.extraction.extractive_answer import Choice, choose, rank
from rag.config import Config
from rag.types import LIKELY_THRESHOLD, BlockKind, Hit, Rewriting
from tests import sources

REPORT = sources.hit(
    (BlockKind.HEADING, "Tollhaven annual report"),
    "Tollhaven was founded in 1931 in Basel by two sisters. It makes paper for archives.\nThe canteen serves soup.",
    (BlockKind.TABLE, "Segment\t2022\t2021\nPaper\t514\t496\nInk\t31\t28"),
    name="tollhaven.pdf",
    score=0.9,
)
RIVER = sources.hit("The river is 40 km long. It flows north past the mill.", name="river.pdf", score=0.3)


@pytest.fixture(scope="module")
def reranker() -> providers.CrossEncoder:
    return providers.CrossEncoder(Config())


class Scripted:
    """Gives the scores it is told by a word of the text, and remembers what it was asked."""

    def __init__(self, scores: dict[str, float]) -> None:
        self.by_word = scores
        self.asked: list[str] = []

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked += texts
        return [max((score for word, score in self.by_word.items() if word in text), default=0.0) for text in texts]


def texts(choice: Choice) -> list[str]:
    return [extract.candidate.text for extract in choice.extracts]


def ranked(question: str, *hits: Hit) -> list[str]:
    return [extract.candidate.text for extract in rank(question_intent.parse_question(question), hits)]


# --- what answers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was Tollhaven founded?", "Tollhaven was founded in 1931 in Basel by two sisters."),
        ("What does the canteen serve?", "The canteen serves soup."),
        ("How long is the river?", "The river is 40 km long."),
        ("What did the paper segment earn in 2022?", "Paper – 2022: 514; 2021: 496"),
        ("What did the paper segment of Tolhaven earn in 2022?", "Paper – 2022: 514; 2021: 496"),
    ],
)
def test_the_answer_is_one_sentence_or_row(question: str, answer: str, reranker: providers.CrossEncoder) -> None:
    choice = choose(question, [RIVER, REPORT], reranker=reranker)
    assert texts(choice) == [answer]
    assert extractive_answer.MIN_LIKELIHOOD <= choice.likelihood <= 1.0
    assert (choice.hint, choice.nearest) == (None, None)


@pytest.mark.parametrize(("year", "column"), [("2022", 0), ("2021", 1), ("all years", None), ("2022 or 2021", None)])
def test_the_asked_column_of_a_row_is_marked(year: str, column: int | None, reranker: providers.CrossEncoder) -> None:
    best = choose(f"What did the paper segment earn in {year}?", [REPORT], reranker=reranker).extracts[0]
    assert best.row is not None
    assert (best.row.label, best.row.columns, best.row.cells) == ("Paper", ("2022", "2021"), ("514", "496"))
    assert best.row.asked == column


@pytest.mark.parametrize(
    ("question", "column"),
    [
        ("What was North's figure in H2 2024?", 1),
        ("What was North's figure in the second half of 2023?", 3),
        ("What was North's figure in 2024?", None),
        ("What was North's figure in H1?", None),
    ],
)
def test_the_asked_column_below_heads_of_two_levels_is_marked(question: str, column: int | None) -> None:
    table = "\t2024 H1\t2024 H2\t2023 H1\t2023 H2\nNorth\t10\t12\t9\t11\nSouth\t7\t8\t6\t5"
    best = choose(question, [sources.hit((BlockKind.TABLE, table))]).extracts[0]
    assert best.row is not None
    assert best.row.asked == column


def test_the_only_cell_of_a_row_is_the_asked_one() -> None:
    hit = sources.hit((BlockKind.TABLE, "Auditor\tStrand & Sons\nSeat\tTollhaven"))
    best = choose("Who is the auditor?", [hit]).extracts[0]
    assert best.row is not None
    assert (best.candidate.text, best.row.asked) == ("Auditor – Strand & Sons", 0)


def test_a_row_is_shown_with_its_columns_and_their_unit() -> None:
    table = "(in thousands)\nItem\t2022\t2021\nRent\t$\t1,503\t$\t1,848\nShare\t12\t%\t14\t%"
    assert ranked("What was the rent?", sources.hit((BlockKind.TABLE, table))) == [
        "Rent – 2022: $ 1,503; 2021: $ 1,848 (in thousands)",
        "Share – 2022: 12 %; 2021: 14 % (in thousands)",
    ]


def test_a_label_is_found_by_what_a_vocabulary_makes_of_the_question() -> None:
    hit = sources.hit((BlockKind.TABLE, "Item\t2022\nTurnover\t520\nStaff costs\t310"))
    widened = [Rewriting(kind="synonym", found="revenue", added=("turnover",))]
    first, second = rank(question_intent.parse_question("What was the revenue?", widened), [hit])
    assert first.candidate.text == "Turnover – 2022: 520"
    assert (first.candidate.features.label, second.candidate.features.label) == (1.0, 0.0)


INCOME = "What was the net income in 2022?"
OTHERS = "Item\t2022\t2021\nNet income per share\t2.10\t1.90\nOperating income\t90\t80"


def test_a_shares_figure_is_not_taken_for_the_amount() -> None:
    hit = sources.hit((BlockKind.TABLE, f"{OTHERS}\nNet income\t60\t45"), "Net income rose by 33 % in 2022.")
    reader = Scripted({"per share": 0.99, "rose": 0.98, "Net income – 2022": 0.6})
    assert texts(choose(INCOME, [hit], reranker=reader)) == ["Net income – 2022: 60; 2021: 45"]


def test_what_gives_the_figure_comes_before_what_is_like_it() -> None:
    hit = sources.hit("Net income of the ferry segment in 2022 was $9 million.", "Net income was $60 million in 2022.")
    reader = Scripted({"ferry": 0.99, "$60": 0.6})
    assert texts(choose(INCOME, [hit], reranker=reader))[0] == "Net income was $60 million in 2022."


def test_other_figures_alone_are_no_answer() -> None:
    hit = sources.hit((BlockKind.TABLE, OTHERS), "Net income rose by 33 % in 2022.")
    choice = choose(INCOME, [hit], reranker=Scripted({"per share": 0.99, "rose": 0.98}))
    assert (choice.extracts, choice.nearest) == ((), hit)
    assert (
        choice.hint
        == "In the passages read, the figure itself was not recognised. The nearest stands in report.pdf, page 1."
    )


@pytest.mark.parametrize(
    ("text", "is_likely"),
    [
        ("Net sales rose to $100 million.", False),
        ("Net sales rose to $100 million (in millions, except per share data).", False),
        ("Net sales rose to $4 per common share.", True),
        ("Net sales rose to $4 for each share.", True),
    ],
)
def test_a_total_is_not_likely_where_the_amount_per_unit_is_asked_for(
    text: str, is_likely: bool, reranker: providers.CrossEncoder
) -> None:
    choice = choose("How high were net sales per share?", [sources.hit(text, "Ferries.", score=0.9)], reranker=reranker)
    assert (choice.likelihood > extractive_answer.DOUBTFUL_LIKELIHOOD) is is_likely


@pytest.mark.parametrize(
    ("columns", "is_likely"), [("Change of net sales in percent", False), ("Net sales in percent", True)]
)
def test_a_change_is_not_likely_where_a_share_is_asked_for(
    columns: str, is_likely: bool, reranker: providers.CrossEncoder
) -> None:
    table = f"{columns}\t2022\t2021\nShare of Canada\t14%\t15%\nShare of Peru\t3%\t3%"
    hit = sources.hit((BlockKind.HEADING, columns), (BlockKind.TABLE, table), score=0.9)
    choice = choose("What percentage of net sales comes from Canada?", [hit], reranker=reranker)
    assert (choice.likelihood > extractive_answer.DOUBTFUL_LIKELIHOOD) is is_likely


# --- one answer, or more --------------------------------------------------------------------------------------


def test_a_further_answer_is_shown_if_it_comes_close_and_adds_something() -> None:
    hit = sources.hit(
        "The crane lifts coal.", "The crane lifts grain and timber.", "The crane was old and hardly lifts."
    )
    reader = Scripted({"coal": 0.9, "grain": 0.8, "old": 0.01})
    assert texts(choose("What does the crane lift?", [hit], reranker=reader)) == [
        "The crane lifts coal.",
        "The crane lifts grain and timber.",
    ]
    same = sources.hit("The crane lifts coal.", "Coal is what the crane lifts.")
    assert len(texts(choose("What does the crane lift?", [same], reranker=Scripted({"oal": 0.9})))) == 1


def test_no_more_than_three_answers_are_shown() -> None:
    goods = ("coal ore", "grain seed", "salt brine", "timber plank", "paper pulp")
    hit = sources.hit(*(f"The crane lifts {good}." for good in goods))
    assert len(texts(choose("What does the crane lift?", [hit], reranker=Scripted({"lifts": 0.9})))) == 3


def test_a_further_answer_holds_what_is_asked_for() -> None:
    hit = sources.hit("The crane lifts 95 tonnes.", "The crane lifts coal and timber.")
    found = choose("How many tonnes does the crane lift?", [hit], reranker=Scripted({"lifts": 0.9}))
    assert texts(found) == ["The crane lifts 95 tonnes."]


@pytest.mark.parametrize("names", [("a.pdf", "a.pdf"), ("a.pdf", "b.pdf")])
def test_a_text_that_stands_twice_is_shown_once(names: tuple[str, str]) -> None:
    hits = [sources.hit("The crane lifts 95 tonnes.", name=name) for name in names]
    found = choose("What does the crane lift?", hits, reranker=Scripted({"lifts": 0.9}))
    assert [extract.candidate.hit for extract in found.extracts] == hits[:1]


# --- what is no answer ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hit",
    [
        sources.hit("What the crane lifts is listed in the following table:"),
        sources.hit("What does the crane of the harbour lift?"),
        sources.hit((BlockKind.HEADING, "What the crane lifts and what it does not")),
        sources.hit("The harbour is old.", "What the crane lifts ........ 12"),
        sources.hit("The harbour is old.", "The crane and what it lifts | Report of the year | 12"),
        sources.hit("The harbour is old.", (BlockKind.TABLE, "What the crane lifts\t2022\t2021")),
    ],
)
def test_lead_ins_questions_headings_and_what_belongs_to_the_page_never_answer(hit: Hit) -> None:
    choice = choose("What does the crane lift?", [hit], reranker=Scripted({"crane": 0.9}))
    assert not any("crane" in text for text in texts(choice))


def test_a_heading_answers_where_a_title_is_asked_for() -> None:
    hit = sources.hit((BlockKind.HEADING, "Ships and cranes of Tollhaven"), "Tollhaven has a report of ships.")
    found = choose("What is the title?", [hit], reranker=Scripted({"Ships and": 0.9}))
    assert texts(found)[0] == "Ships and cranes of Tollhaven"


def test_nothing_found_is_no_answer() -> None:
    for hits in ([], [sources.hit((BlockKind.HEADING, "The crane"))]):
        choice = choose("What does the crane lift?", hits)
        assert (choice.extracts, choice.nearest) == ((), None)
        assert choice.hint == "In the passages read, no sentence and no row of a table was recognised as an answer."


# --- what is missing is named -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "hint"),
    [
        (
            "What did the paper segment earn in 2020?",
            "“2020” does not occur in the passages read. The nearest (2021, 2022) stands in tollhaven.pdf, page 1.",
        ),
        (
            "What did the paper segment earn in 2019 and 2020?",
            (
                "“2019” and “2020” do not occur in the passages read. "
                "The nearest (2021, 2022) stands in tollhaven.pdf, page 1."
            ),
        ),
        (
            "What does the canteen of Lindmark serve?",
            "“Lindmark” does not occur in the passages read. The nearest stands in tollhaven.pdf, page 1.",
        ),
        (
            "How long is the river Orla-7?",
            "“Orla-7” does not occur in the passages read. The nearest stands in river.pdf, page 1.",
        ),
        (
            "Which words are highlighted in yellow?",
            "“yellow” does not occur in the passages read. The nearest stands in tollhaven.pdf, page 1.",
        ),
        (
            "What is the e-mail address of Tollhaven?",
            (
                "The nearest sentence or row gives no e-mail address that answers this. "
                "The nearest stands in tollhaven.pdf, page 1."
            ),
        ),
        (
            "What is the phone number of Tollhaven?",
            (
                "The nearest sentence or row gives no telephone or fax number that answers this. "
                "The nearest stands in tollhaven.pdf, page 1."
            ),
        ),
    ],
)
def test_the_hint_names_what_is_missing_and_where_the_nearest_stands(
    question: str, hint: str, reranker: providers.CrossEncoder
) -> None:
    choice = choose(question, [REPORT, RIVER], reranker=reranker)
    assert choice.extracts == ()
    assert choice.hint == hint
    assert choice.nearest is (RIVER if "river" in hint else REPORT)


def test_a_year_in_another_document_does_not_stand_for_that_of_the_answer(reranker: providers.CrossEncoder) -> None:
    other = sources.hit("The festival of 2020 was wet.", name="festival.pdf")
    choice = choose("What did the paper segment earn in 2020?", [REPORT, other], reranker=reranker)
    assert choice.extracts == ()
    assert choice.hint is not None
    assert choice.hint.startswith("“2020” does not occur in the nearest passage. The nearest (2021, 2022) stands in")


def test_a_name_in_another_document_is_not_said_to_be_missing(reranker: providers.CrossEncoder) -> None:
    other = sources.hit("The annual report of Lindmark.", name="lindmark.pdf", score=0.1)
    choice = choose("What does the canteen of Lindmark serve?", [REPORT, other], reranker=reranker)
    assert choice.nearest is REPORT
    assert choice.hint == (
        "“Lindmark” does not occur in the passages read from tollhaven.pdf. "
        "The nearest stands in tollhaven.pdf, page 1."
    )


def test_a_name_may_stand_in_the_name_of_the_document(reranker: providers.CrossEncoder) -> None:
    named = REPORT.model_copy(update={"document_name": "Lindmark.pdf"})
    choice = choose("What does the canteen of Lindmark serve?", [named], reranker=reranker)
    assert texts(choice)[0] == "The canteen serves soup."


def test_what_is_not_close_enough_is_no_answer(reranker: providers.CrossEncoder) -> None:
    choice = choose("who won the chess tournament?", [RIVER, REPORT], reranker=reranker)
    assert choice.extracts == ()
    assert choice.hint is not None
    assert choice.hint.startswith("Nothing that was found answers this closely enough. The nearest stands in ")
    assert choice.likelihood < LIKELY_THRESHOLD


LIFTS = ("The mill grinds corn.", "The quay is long.", "The ferry runs.", "The canteen serves soup.")


@pytest.mark.parametrize(
    ("question", "text", "hint"),
    [
        (
            "How many tonnes did the crane lift?",
            "The crane lifted coal.",
            "The nearest sentence or row gives no figure that answers this.",
        ),
        (
            "In which year did the crane lift coal?",
            "The crane lifted coal.",
            "The nearest sentence or row gives no date that answers this.",
        ),
    ],
)
def test_without_the_figure_or_date_that_is_asked_for_nothing_answers(question: str, text: str, hint: str) -> None:
    found = sources.hit(text, *LIFTS, name="crane.pdf", score=0.9)
    choice = choose(question, [found], reranker=Scripted({"crane": 0.999}))
    assert (choice.extracts, choice.nearest) == ((), found)
    assert choice.hint is not None
    assert choice.hint.startswith(hint)


def test_a_circumstance_may_answer_when_but_is_not_likely() -> None:
    found = sources.hit("The keeper recorded the tide at dawn.", *LIFTS, score=0.9)
    choice = choose("When did the keeper record the tide?", [found], reranker=Scripted({"dawn": 0.999}))
    assert texts(choice) == ["The keeper recorded the tide at dawn."]
    assert choice.likelihood < LIKELY_THRESHOLD


def test_what_holds_the_figure_comes_before_what_is_a_little_closer() -> None:
    found = sources.hit("The crane lifted coal.", "The crane lifted 12 tonnes of coal.", *LIFTS, score=0.9)
    reader = Scripted({"12 tonnes": 0.99, "crane": 0.995})
    choice = choose("How many tonnes did the crane lift?", [found], reranker=reader)
    assert texts(choice)[0] == "The crane lifted 12 tonnes of coal."
    assert choice.likelihood >= LIKELY_THRESHOLD


def test_an_address_is_found_though_another_sentence_is_closer() -> None:
    hit = sources.hit("Reach the desk by e-mail or by post.\n\nWrite to desk@harbour.example for more.")
    found = choose("What is the e-mail address of the desk?", [hit], reranker=Scripted({"Reach": 0.99, "Write": 0.3}))
    assert texts(found) == ["Write to desk@harbour.example for more."]


# --- pages ------------------------------------------------------------------------------------------------------


def on_pages(*said: str) -> list[Hit]:
    first = sources.hit(said[0], name="crane.pdf")
    rest = [
        sources.hit(text, name="crane.pdf", page_number=number, first=number, document_id=first.passage.document_id)
        for number, text in enumerate(said[1:], 2)
    ]
    return [first, *rest]


@pytest.mark.parametrize(("page", "tonnes"), [(1, 40), (2, 95)])
def test_an_asked_page_is_the_only_one(page: int, tonnes: int, reranker: providers.CrossEncoder) -> None:
    hits = on_pages("The crane lifts 40 tonnes.", "The crane lifts 95 tonnes.")
    choice = choose(f"What does the crane lift on page {page}?", hits, reranker=reranker)
    assert texts(choice) == [f"The crane lifts {tonnes} tonnes."]
    assert [extract.candidate.page_number for extract in choice.extracts] == [page]


def test_what_stands_on_an_asked_page_need_not_share_words_with_the_question() -> None:
    hits = on_pages("Cooks make soup in winter.", "Ships carry timber south.")
    assert texts(choose("What is said on page 2?", hits, reranker=Scripted({}))) == ["Ships carry timber south."]


def test_what_stands_elsewhere_is_no_answer_for_being_asked_of_a_page() -> None:
    hits = on_pages("Cooks make soup in winter.", "Ships carry timber south.")
    assert texts(choose("What is said on page 9?", hits, reranker=Scripted({}))) == []


# --- with a cross-encoder, and without ----------------------------------------------------------------------------


def test_the_cross_encoder_reads_each_unit_in_its_context() -> None:
    titled = sources.hit(
        (BlockKind.HEADING, "Mills"), "The mill of Basel is old. It makes fine paper.", title="The river"
    )
    reader = Scripted({})
    rank(question_intent.parse_question("What does the mill make?"), [titled], reranker=reader)
    assert reader.asked == [
        "The river. Mills. The mill of Basel is old.",
        "The river. Mills. The mill of Basel is old. It makes fine paper.",
        f"The river. {titled.chunk.text}",
    ]


def test_the_cross_encoder_reads_no_more_than_so_many() -> None:
    many = sources.hit(*(f"Sentence {'abcdefghij'[n % 10]}{'abcdefghij'[n // 10]} is on cranes." for n in range(90)))
    reader = Scripted({})
    rank(question_intent.parse_question("What of cranes?"), [many], reranker=reader)
    assert len(reader.asked) == 24 + 1


def test_the_reader_reads_the_closest_units_alone_and_decides_between_them() -> None:
    hit = sources.hit("The crane lifts coal by hand.", "Miller & Sons lift coal.", score=0.9)
    question = question_intent.parse_question("Who lifts the coal?")
    reranker, reader = Scripted({"by hand": 0.9, "Miller": 0.8}), Scripted({"by hand": 0.001, "Miller": 0.999})
    without, _ = rank(question, [hit], reranker=reranker)
    best, other = rank(question, [hit], reranker=reranker, reader=reader)
    assert without.candidate.text == other.candidate.text == "The crane lifts coal by hand."
    assert best.candidate.text == "Miller & Sons lift coal."
    assert reader.asked == ["The crane lifts coal by hand.", "Miller & Sons lift coal."]


@pytest.mark.parametrize(("score", "is_doubtful"), [(0.01, True), (0.5, False)])
def test_a_sentence_that_the_reader_takes_for_no_answer_is_not_likely(score: float, is_doubtful: bool) -> None:
    hit = sources.hit("The crane lifts coal.", "It is old.", "It is red.", "It is loud.", score=0.9)
    reranker, reader = Scripted({"lifts": 0.999}), Scripted({"lifts": score})
    choice = choose("What does the crane lift?", [hit], reranker=reranker, reader=reader)
    assert texts(choice)[0] == "The crane lifts coal."
    assert (choice.likelihood <= extractive_answer.DOUBTFUL_LIKELIHOOD) is is_doubtful


def test_a_row_is_likely_whatever_the_reader_of_prose_says() -> None:
    hit = sources.hit((BlockKind.TABLE, "Cranes\t2022\t2021\nCoal lifted\t14\t15\nSand\t3\t3"), score=0.9)
    choice = choose("Coal lifted", [hit], reranker=Scripted({"Coal": 0.999}), reader=Scripted({}))
    assert choice.likelihood > extractive_answer.DOUBTFUL_LIKELIHOOD


def test_what_the_reader_does_not_read_answers_no_better_than_the_worst_that_it_reads() -> None:
    many = sources.hit(*(f"Sentence {'abcdefghij'[n]} is on cranes." for n in range(10)))
    reader = Scripted({"Sentence": 0.3})
    found = rank(question_intent.parse_question("What of cranes?"), [many], reranker=Scripted({}), reader=reader)
    assert len(reader.asked) == extractive_answer.READ
    assert len({extract.candidate.features.answers for extract in found}) == 1


def test_without_a_cross_encoder_words_decide() -> None:
    choice = choose("How long is the river?", [REPORT, RIVER])
    assert texts(choice) == ["The river is 40 km long."]
    assert choice.likelihood == 1.0
    assert choose("who won the chess tournament?", [REPORT, RIVER]).extracts == ()
    assert choose("which river won the chess tournament?", [REPORT, RIVER]).extracts == ()


def test_among_equals_the_sentence_of_the_better_hit_is_first() -> None:
    worse, better = (
        sources.hit(text, score=score) for text, score in (("A mill in Bern.", 0.3), ("A mill in Basel.", 0.9))
    )
    assert ranked("A mill?", better, worse) == ["A mill in Basel.", "A mill in Bern."]


def test_the_likelihood_rises_with_the_lead_of_the_best() -> None:
    def likelihood(second: float) -> float:
        hit = sources.hit(
            "The crane lifts coal.", "The cook makes soup.", "The clerk writes books.", "The guard has a key."
        )
        reader = Scripted({"coal": 0.9, "soup": second, "books": second, "key": second})
        return extractive_answer.likelihood(
            rank(question_intent.parse_question("What of the people?"), [hit], reranker=reader)
        )

    assert 0.0 < likelihood(0.8) < likelihood(0.3) < likelihood(0.01) < 1.0
