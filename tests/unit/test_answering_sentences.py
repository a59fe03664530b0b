import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.passages.quotable_units import split_passage
from rag.answering.text.sentences import MAX_SENTENCE_CHARS, one_line, split_sentences
from rag.types import BlockKind, Passage
from tests import sources


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def units(passage: Passage) -> list[str]:
    return [passage.text[unit.span.start : unit.span.end] for unit in split_passage(passage)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rose. It fell.", ["It rose.", "It fell."]),
        ("It rose\nby 3.5%. It fell.", ["It rose\nby 3.5%.", "It fell."]),
        ("Did it? Yes! Good…  So.", ["Did it?", "Yes!", "Good…", "So."]),
        ('He said "We won." Then he left.', ['He said "We won."', "Then he left."]),
        ("(It rose.) It fell.", ["(It rose.)", "It fell."]),
        ("See Fig. 3 and Sec. 4.2. Next.", ["See Fig. 3 and Sec. 4.2.", "Next."]),
        ("Dr. J. R. Smith of Acme Inc. reported it. Good.", ["Dr. J. R. Smith of Acme Inc. reported it.", "Good."]),
        ("Offices in the U.S. and the U.K. The firm grew.", ["Offices in the U.S. and the U.K.", "The firm grew."]),
        ("It is held by the U.S. Army today.", ["It is held by the U.S. Army today."]),
        ("Costs, e.g. Rent, rose approx. 5 percent.", ["Costs, e.g. Rent, rose approx. 5 percent."]),
        ("It was 2019. Sales rose.", ["It was 2019.", "Sales rose."]),
        ("It was 42. Sales rose.", ["It was 42.", "Sales rose."]),
        ("Costs (approx. 5 percent) rose. Good.", ["Costs (approx. 5 percent) rose.", "Good."]),
        ("1. Revenue rose. It did.", ["1. Revenue rose.", "It did."]),
        ("Yahoo! is a firm. So is X.", ["Yahoo! is a firm.", "So is X."]),
        ("Am 30. Mai waren es 300. Mai war gut.", ["Am 30. Mai waren es 300.", "Mai war gut."]),
        ("The funds were Rs. 1,039.88 in 2003. They fell.", ["The funds were Rs. 1,039.88 in 2003.", "They fell."]),
        ("Am 3. Mai stieg er z.B. stark. Das war viel.", ["Am 3. Mai stieg er z.B. stark.", "Das war viel."]),
        ("收入增长了。成本下降了！为什么？", ["收入增长了。", "成本下降了！", "为什么？"]),
        ("彼は「はい。」と言った。次。", ["彼は「はい。」", "と言った。", "次。"]),
        ("هل زاد الدخل؟ نعم. انتهى", ["هل زاد الدخل؟", "نعم.", "انتهى"]),
        ("आय बढ़ी। लागत घटी।", ["आय बढ़ी।", "लागत घटी।"]),
        (
            "It is a shell. Yes ☐ No ☒\nIt files. Yes\n☒ No ☐ Good.",
            ["It is a shell. Yes ☐ No ☒", "It files. Yes\n☒ No ☐", "Good."],
        ),
        ("It files (Rule 12): ☒ Yes ☐ No\nGood.", ["It files (Rule 12): ☒ Yes ☐ No", "Good."]),
        ("If it grew, check the box. ☐\nGood.", ["If it grew, check the box. ☐", "Good."]),
        ("Buy these. ☐ Milk. ☒ Bread.", ["Buy these.", "☐ Milk.", "☒ Bread."]),
        ("It is 19-in. × 8.5-in. wide. Good.", ["It is 19-in. × 8.5-in. wide.", "Good."]),
        (
            "It weighs 5 lb. 3 oz. in all. It is 10 in. Width: 5 in.",
            ["It weighs 5 lb. 3 oz. in all.", "It is 10 in.", "Width: 5 in."],
        ),
        (
            "Sold by Acme Inc. (the “Firm”. See Note 5.) in 2021. Good.",
            ["Sold by Acme Inc. (the “Firm”. See Note 5.) in 2021.", "Good."],
        ),
        ("In 208 F.3d 224 (9th Cir. 2000). Good.", ["In 208 F.3d 224 (9th Cir. 2000).", "Good."]),
        ("It has the number C.A. No. 11A-06. It is old.", ["It has the number C.A. No. 11A-06.", "It is old."]),
        ("It was sold. No. 5 was kept.", ["It was sold.", "No. 5 was kept."]),
        ("(It rose. It fell.) It rose (by 5 %. It fell.", ["(It rose.", "It fell.)", "It rose (by 5 %.", "It fell."]),
        ("There are two: 1. Sales rose. 2. Costs fell.", ["There are two: 1. Sales rose.", "2. Costs fell."]),
        (
            "Sales rose.1 Costs fell.¹ Profit rose.[3] Good.",
            ["Sales rose.1", "Costs fell.¹", "Profit rose.[3]", "Good."],
        ),
        (
            "It has max. 5, avg. 4 and min. 3 of Ex. 10.1. Good.",
            ["It has max. 5, avg. 4 and min. 3 of Ex. 10.1.", "Good."],
        ),
        ("**No. 5 is it.** It rose incl. VAT. Good.", ["**No. 5 is it.**", "It rose incl. VAT.", "Good."]),
        (
            "Im 1. Quartal rd. 5 Mio. Euro bzw. 3 Mrd. EUR. Gut.",
            ["Im 1. Quartal rd. 5 Mio. Euro bzw. 3 Mrd. EUR.", "Gut."],
        ),
        (
            "Il y a env. 5 M. d’euros à l’art. 5 de M. Dupont, P.-D.G. de Lyon. Bien.",
            ["Il y a env. 5 M. d’euros à l’art. 5 de M. Dupont, P.-D.G. de Lyon.", "Bien."],
        ),
        ("« C’est bien. » Voilà.", ["« C’est bien. »", "Voilà."]),
        ("El Sr. García creció aprox. 5 % en EE.UU. Bien.", ["El Sr. García creció aprox. 5 % en EE.UU. Bien."]),
        ("Il sig. Rossi della S.p.A. ha l’art. 5. Bene.", ["Il sig. Rossi della S.p.A. ha l’art. 5.", "Bene."]),
        ("Dhr. Jansen betaalt excl. 5 euro. Klaar.", ["Dhr. Jansen betaalt excl. 5 euro.", "Klaar."]),
        ("", []),
        ("  \n ", []),
    ],
)
def test_text_is_split_into_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet=st.sampled_from(list("aA1.?!。 \n\"')(-")), max_size=60))
def test_sentences_cover_every_character_once(text: str) -> None:
    spans = split_sentences(text)
    assert "".join("".join(text[s:e].split()) for s, e in spans) == "".join(text.split())
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))


def test_a_block_is_a_boundary_and_a_line_break_is_none() -> None:
    passage = sources.passage((BlockKind.HEADING, "Results of\noperations"), "Revenue\nrose. It\nfell", "Then more.")
    assert units(passage) == ["Results of\noperations", "Revenue\nrose.", "It\nfell", "Then more."]


def test_a_sentence_goes_on_in_the_next_column_or_page() -> None:
    assert units(sources.passage("It rose. The board", "was pleased. It left.")) == [
        "It rose.",
        "The board\n\nwas pleased.",
        "It left.",
    ]
    assert units(sources.passage("3. The board", "was pleased.")) == ["3. The board\n\nwas pleased."]
    assert units(sources.passage("3. The board", " was pleased.")) == ["3. The board\n\n was pleased."]
    for ended in ("It rose.", "It rose. ", "It was so:", "上涨了。", "It rose\n "):
        assert units(sources.passage(ended, "and so on")) == [ended.strip(), "and so on"]


def test_each_row_of_a_table_stands_alone_and_knows_its_header() -> None:
    passage = sources.passage((BlockKind.TABLE, "Item\t2022\t2021\nRevenue\t5\t4\nCosts\t3\t2"))
    header, *rows = split_passage(passage)
    assert header.header is None
    assert [row.header for row in rows] == [header.span, header.span]
    assert units(passage)[1] == "Revenue\t5\t4"
    assert units(sources.passage((BlockKind.TABLE, "Item\t2022\n \nCosts\t3"))) == ["Item\t2022", "Costs\t3"]


def test_a_table_without_names_of_its_own_takes_them_from_the_line_above() -> None:
    rows = (BlockKind.TABLE, "Net income\t$ 461\t$ 229\nCosts\t12\t10")
    caption, *units_ = split_passage(sources.passage("($ in millions) 2022 2021", rows))
    assert [unit.header for unit in units_] == [caption.span, caption.span]
    units_ = split_passage(sources.passage("Income rose in both years.", rows))
    assert [unit.header for unit in units_] == [None, None, None]


def test_a_list_of_names_and_values_has_no_header() -> None:
    for rows in ("Name\tAcme\nTown\tParis", "Name of the firm\tAcme\nTown\tParis"):
        assert [unit.header for unit in split_passage(sources.passage((BlockKind.TABLE, rows)))] == [None, None]


def test_rows_of_figures_without_rules_and_list_items_stand_alone() -> None:
    passage = sources.passage("Revenue 514 496\nCosts (12) 30", "• First thing\ngoes on\n• Second thing")
    assert units(passage) == ["Revenue 514 496", "Costs (12) 30", "• First thing\ngoes on", "• Second thing"]
    assert units(sources.passage("Sums follow\nCosts (12) 30\nand so on")) == [
        "Sums follow",
        "Costs (12) 30",
        "and so on",
    ]


@pytest.mark.parametrize(
    ("above", "is_caption"),
    [
        ("(in millions of crowns)", True),
        ("All sums are in 000s", True),
        ("In thousands, except 35 million shares", True),
        ("holders of 35 million shares, who", False),
        ("about 17,000 pilots of the sound and", False),
    ],
)
def test_what_counts_a_figure_is_not_what_figures_are_given_in(above: str, is_caption: bool) -> None:
    passage = sources.passage(above, (BlockKind.TABLE, "Item\t2022\t2021\nCosts\t3\t4"))
    assert (split_passage(passage)[-1].caption is not None) == is_caption


def test_a_currency_s_sign_behind_a_figure_is_that_of_the_next() -> None:
    def cells(row: str) -> list[str]:
        passage = sources.passage((BlockKind.TABLE, f"Item\t2022\t2021\t2020\nShips\t3\t4\t5\n{row}"))
        return [passage.text[slice(*cell.span)] for cell in split_passage(passage)[-1].cells]

    assert cells("Costs\t$\t1,906 $\t512 $\t960") == ["$\t1,906", "$\t512", "$\t960"]
    assert cells("Costs\t12 €\t13 €\t14 €") == ["12 €", "13 €", "14 €"]


def test_a_heading_may_have_several_numbers() -> None:
    assert units(sources.passage((BlockKind.HEADING, "1. Results\n2. Costs"))) == ["1. Results", "2. Costs"]


def test_white_space_around_lines_and_empty_lines_are_left_out() -> None:
    assert units(sources.passage("  It rose\n \nand fell.  ")) == ["It rose\n \nand fell."]
    assert units(sources.passage((BlockKind.TABLE, "Item\t2022\n  Costs\t3 "))) == ["Item\t2022", "Costs\t3"]


def test_text_without_full_stops_is_cut() -> None:
    found = units(sources.passage("\n".join(["some words without an end"] * 100)))
    assert len(found) > 3
    assert all(0 < len(unit) <= MAX_SENTENCE_CHARS for unit in found)


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("word " * 200, [599, 399]),
        ("length " * 100, [594, 104]),
        ("w" * 1300, [600, 600, 100]),
        ("w" * 400 + "\n" + "w" * 400, [400, 400]),
        ("w" * 250 + " " + "w" * 800, [600, 451]),  # not cut too short for a space
        ("w" * 600, [600]),
    ],
)
def test_text_without_full_stops_is_cut_at_the_last_space_if_that_is_near(text: str, lengths: list[int]) -> None:
    assert [len(unit) for unit in units(sources.passage(text))] == lengths


def test_flowing_text_joins_broken_words_and_parts_cells() -> None:
    assert one_line("reve-\nnue of the\nlong-\nTerm plan") == "revenue of the long- Term plan"
    assert one_line("Revenue\t5\t\t4") == "Revenue · 5 · 4"


def test_cells_are_told_apart_but_not_a_label_and_its_value() -> None:
    text = "By:\tOla Berg\tBy:\tUna Dahl\nTitle:\tTreas-\nurer"
    assert one_line(text) == "By: Ola Berg · By: Una Dahl Title: Treasurer"
