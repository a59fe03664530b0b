import pytest

from rag.answering.passages.table_text import declared_scales, scales_of_row
from rag.answering.text.numbers import find_numbers, unsupported


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Revenue of $1,234.50 in 2022.", ["1,234.50", "2022"]),
        ("From 3.5% to 4 %", ["3.5", "4"]),
        ("Q3 FY2019, 10-K", ["3", "2019", "10"]),
        ("$1.2 million and 5bn", ["1.2 million", "5bn"]),
        ("$(27.3) million, (€5) bn and (4 million)", ["27.3 million", "5 bn", "4 million"]),
        ("(see note 5, of 27) million", ["5", "27"]),
        ("no figures here", []),
        ("Rs.1,500 crore, approx.1,425 ft, $.50 and .5", ["1,500 crore", "1,425", ".50", ".5"]),
        ("Sec.4.2, No.5, EUR.1,500 and EUR.50, per share.25", ["4.2", "5", "1,500", ".50", ".25"]),
        ("２０２２年 ٢٠٢١", ["２０２２", "٢٠٢١"]),
        ("10⁶ of 5²", ["10⁶", "5"]),
        ("812⁸ million, 12³ %", ["812 million", "12"]),
    ],
)
def test_numbers_are_found_as_written(text: str, numbers: list[str]) -> None:
    assert [number.text for number in find_numbers(text)] == numbers


def test_the_mark_of_a_note_is_no_part_of_a_figure_and_a_power_is() -> None:
    (noted,) = find_numbers("812⁸ million euro")
    assert (noted.values, noted.scale, noted.unit) == (frozenset({812.0}), 1e6, "€")
    (share,) = find_numbers("12³ %")
    assert (share.values, share.unit) == (frozenset({12.0}), "%")
    assert [number.values for number in find_numbers("10⁶ and 10⁻³")] == [{1e6}, {1e-3}]
    (product,) = find_numbers("2.5 × 10⁶ units")
    assert (product.values, product.scale) == (frozenset({2.5}), 1e6)


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("1,234.50", "1.234,50"),
        ("1234", "1,234"),
        ("1234", "1 234".replace(" ", "\u202f")),
        ("$1,234", "(1,234)"),
        ("1,234,567", "1.234.567"),
        ("12.5", "12,5"),
        ("5%", "5 percent"),
        ("$1.2 million", "1,200,000"),
        ("$27.3 million", "a loss of $(27.3) million"),
        ("1.2 billion", "1,200 million"),
        ("3億", "3億"),
        ("2 plants", "two plants"),
        ("Q3", "the third quarter"),
        ("06/30/2022", "June 30, 2022"),
        ("2022", "٢٠٢٢"),
        ("5M", "5 million"),
        (".5", "0.5"),
        ("$5,200 million", "Revenue 5,200"),  # where nothing says otherwise
        ("Section 12.3.4", "see 12.3.4"),
    ],
)
def test_the_same_number_in_another_spelling_is_supported(sentence: str, quote: str) -> None:
    assert unsupported(sentence, [quote]) == ()


@pytest.mark.parametrize(
    ("sentence", "quote", "missing"),
    [
        ("It was 42.", "It was 41.", ("42",)),
        ("It was 10.", "It was 110.", ("10",)),
        ("It was 5 million.", "It was 5 billion.", ("5 million",)),
        ("It was 5.", "It was 5 million.", ("5",)),
        ("It was 1.2.", "It was 12.", ("1.2",)),
        ("In 2021 it was 5.", "In 2022 it was 5.", ("2021",)),
        ("It was 7 and 7.", "", ("7",)),
        ("It was 1,234.50.", "It was 234 of 50.", ("1,234.50",)),
        ("It was 0.125.", "It was 125.", ("0.125",)),
    ],
)
def test_another_number_is_not_supported(sentence: str, quote: str, missing: tuple[str, ...]) -> None:
    assert unsupported(sentence, [quote]) == missing


def test_numbers_may_stand_in_different_quotes() -> None:
    assert unsupported("5 in 2022", ["Revenue 5 4", "2022 2021"]) == ()


def test_a_declared_scale_decides_what_a_bare_figure_means() -> None:
    scales = declared_scales("Consolidated balance sheet ($ in millions)")
    assert scales == {1e6}
    assert unsupported("$5,200 million", ["Revenue 5,200"], scales=scales) == ()
    assert unsupported("$5.2 billion", ["Revenue 5,200"], scales=scales) == ()
    assert unsupported("$5,200 billion", ["Revenue 5,200"], scales=scales) == ("5,200 billion",)


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("14%, 14 percent and 14 percentage points", ["%", "%", "percentage points"]),
        ("a 3.4-percentage-point rise, 50 basis points, 50bps", ["percentage points", "basis points", "basis points"]),
        ("2.1 times EBITDA, 2.1x", ["times", "times"]),
        ("5 x 3", [None, None]),
        ("$5, US$5, USD 5, 5 million U.S. dollars", ["$", "US$", "US$", "US$"]),
        ("C$5, A$5, 5 Hong Kong dollars", ["C$", "A$", "HK$"]),
        ("A $5 fee", ["$"]),
        ("€5, EUR 5, 5 million euros, €5m", ["€", "€", "€", "€"]),
        ("£(5), CHF 5, SEK 5.6 billion, 5 yen", ["£", "CHF", "SEK", "¥"]),
        ("2023 EUR 2022", [None, None]),
    ],
)
def test_a_number_knows_what_it_is_measured_in(text: str, units: list[str | None]) -> None:
    assert [number.unit for number in find_numbers(text)] == units


@pytest.mark.parametrize(
    ("sentence", "quote", "is_same"),
    [
        ("$5 million", "USD 5 million", True),
        ("EUR 5 million", "€5 million", True),
        ("5 million euros", "5 million", True),
        ("US$5 million", "C$5 million", False),
        ("$5 million", "C$5 million", False),
        ("USD 5 million", "CHF 5 million", False),
        ("5 percentage points", "5%", False),
        ("5%", "5 percentage points", False),
        ("5 percentage points", "5 basis points", False),
        ("2.1%", "2.1 times", False),
        ("€96m", "96 million euros", True),
    ],
)
def test_figures_in_different_units_are_not_the_same(sentence: str, quote: str, is_same: bool) -> None:
    assert (unsupported(sentence, [quote]) == ()) == is_same


@pytest.mark.parametrize(
    ("caption", "scale"),
    [
        ("(in millions)", 1e6),
        ("in $ millions", 1e6),
        ("(in € millions)", 1e6),
        ("$ millions", 1e6),
        ("(€m)", 1e6),
        ("EURm", 1e6),
        ("EUR million", 1e6),
        ("£bn", 1e9),
        ("(£000)", 1e3),
        ("(£'000)", 1e3),
        ("HK$’000", 1e3),
        ("(000s)", 1e3),
        ("($000's omitted)", 1e3),
        ("TEUR", 1e3),
        ("Mio. CHF", 1e6),
        ("(Rs. in crore)", 1e7),
        ("(₹ in lakhs)", 1e5),
        ("Millions of dollars", 1e6),
        ("(thousands of tonnes)", 1e3),
        ("Sales, amounts expressed in thousands of U.S. dollars", 1e3),
        ("en millions d’euros", 1e6),
        ("(in millions, except per share data)", 1e6),
    ],
)
def test_a_caption_declares_its_scale_in_many_notations(caption: str, scale: float) -> None:
    assert declared_scales(caption) == {scale}


@pytest.mark.parametrize(
    "text",
    ["35 million people", "grew to $5 million", "in about 35 million homes", "17,000", "10 000 sheets", "$5m", "5 m²",
     "hundreds of thousands of dollars", "Millions of people read it.", "a million-dollar house"],
)  # fmt: skip
def test_a_scale_that_counts_something_declares_nothing(text: str) -> None:
    assert declared_scales(text) == frozenset()


SHARES_APART = "(In millions, except number of shares, which are reflected in thousands, and per-share amounts)"


@pytest.mark.parametrize(
    ("label", "section", "caption", "scales"),
    [
        ("Revenue", "", "(in millions)", {1e6}),
        ("Revenue", "", "Year ended June 30", None),
        ("Revenue", "", SHARES_APART, {1e6}),
        ("Shares used to compute earnings per share", "", SHARES_APART, {1e3}),
        ("Diluted", "Earnings per share:", SHARES_APART, set()),
        ("Dividends per share", "", "(in millions)", set()),
        ("Average price", "", "(in millions, except average prices)", set()),
        ("Data centres", "", "(in millions, except per share data)", {1e6}),
        ("Growth in %", "", "(in millions)", set()),
        ("Current ratio", "", "(in millions)", set()),
    ],
)
def test_a_row_takes_the_scale_that_is_declared_for_it(
    label: str, section: str, caption: str, scales: set[float] | None
) -> None:
    assert scales_of_row(label, section, [caption]) == scales


@pytest.mark.parametrize(
    ("sentence", "quotes"),
    [
        ("12 + 30 = 42", ["12", "30"]),
        ("The total is 42 (= 12 + 30).", ["12", "30"]),
        ("Growth was (514.4 − 496.0) / 496.0 = 3.7%.", ["514.4", "496.0"]),
        ("The margin is 25 / 80 × 100 = 31.25 %.", ["25", "80"]),
        ("The mean is (10 + 20) / 2 = 15.", ["10", "20"]),
        ("$5.2 million + $4.1 million = $9.3 million", ["$5.2 million", "$4.1 million"]),
        ("12 + 30 = 42 and 42 / 30 = 1.4", ["12", "30"]),
        ("12 + 30 = 42 = 84 / 2", ["12", "30", "84", "2"]),
        ("1,200 - 200 = 1,000", ["1,200", "200"]),
        ("The total is 42 (=12+30).", ["12", "30"]),
        ("−12 + 30 = 18", ["12", "30"]),
        ("+12 + 30 = 42", ["12", "30"]),
        ("The share is 25 / 80 = 31.25 %.", ["25", "80"]),
        ("It grew by 514.4 / 496.0 - 1 = 3.7 %.", ["514.4", "496.0"]),
        ("It is (5 + 4) / 3 - 1 = 2.", ["5", "4", "3"]),
        ("1.250 + 1.250 = 2.5", ["1.250"]),
        ("1.26 billion - 500 million = 0.8 billion", ["1.26 billion", "500 million"]),
        ("1.5 million / 3 = 500,000", ["1.5 million", "3"]),
        ("5.2 + 4.1 = 9.3 million", ["5.2", "4.1"]),
        ("(in millions) 5.2 million + 4.1 million = 9.3", ["5.2 million", "4.1 million"]),
    ],
)
def test_a_figure_computed_from_quoted_ones_is_supported(sentence: str, quotes: list[str]) -> None:
    assert unsupported(sentence, quotes) == ()


@pytest.mark.parametrize(
    ("computed", "wrong"),
    [
        ("10 / 3 = 3", "10 / 3 = 4"),
        ("10 / 3 = 3.3", "10 / 3 = 3.4"),
        ("10 / 3 = 3.33", "10 / 3 = 3.35"),
        ("10 / 3 = 3,3", "10 / 3 = 3,6"),
        ("5 / 2 = 3", "5 / 2 = 3.1"),
        ("10,001 / 8 = 1,250", "10,001 / 8 = 1,251"),
        ("10 / 8 = 1.250", "10 / 8 = 1.500"),
        ("7 / 8 = 0.88", "7 / 8 = 0.89"),
        ("25 / 80 = 31 %", "25 / 80 = 31"),
    ],
)
def test_a_computed_figure_may_be_rounded_and_no_more(computed: str, wrong: str) -> None:
    quotes = [number.text for number in find_numbers(computed)[:2]]
    assert unsupported(computed, quotes) == ()
    assert unsupported(wrong, quotes) == (find_numbers(wrong)[-1].text,)


@pytest.mark.parametrize(
    ("sentence", "quotes", "missing"),
    [
        ("12 + 30 = 43", ["12", "30"], ("43",)),
        ("12 + 30 = 42", ["12"], ("30", "42")),
        ("The total of 12 and 30 is 42.", ["12", "30"], ("42",)),
        ("12 / 0 = 5", ["12", "0"], ("5",)),
        ("x = 42", ["12"], ("42",)),
        ("12 + 30 = 42 + 7", ["12", "30"], ("42", "7")),
        ("12 ** 9 = 5159780352", ["12", "9"], ("5159780352",)),
        ("= = 3 + ((", [""], ("3",)),
        ("__import__('os').system('x') + 1 = 2", ["1"], ("2",)),
    ],
)
def test_a_wrong_or_unsupported_computation_is_not(sentence: str, quotes: list[str], missing: tuple[str, ...]) -> None:
    assert unsupported(sentence, quotes) == missing
