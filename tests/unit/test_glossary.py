"""A user's glossary: its bounds, the packaged example, and its synonyms as a table."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag import errors, vocabulary
from rag.types import BlockKind, Line, without_direction_controls
from rag.ui.admin.glossary import ALSO, TERM, Row, groups_of
from rag.vocabulary import Widener, load, with_synonyms

EXAMPLE = vocabulary.example()
GROUPS = [[*group.terms] for group in load(EXAMPLE).synonyms]
LETTERS = st.characters(blacklist_categories=["Cs", "Cc"]).filter(without_direction_controls)
WORDS = st.text(LETTERS, max_size=9).map(lambda text: f"{text} a".strip())
TABLES = st.lists(st.lists(WORDS, min_size=2, max_size=4, unique=True), max_size=5)


# --- the words of both ---


def test_the_example_is_a_glossary_with_everything_in_it() -> None:
    loaded = load(EXAMPLE)
    assert all([loaded.synonyms, loaded.abbreviations, loaded.derived, loaded.places, loaded.items])
    assert "crane moves" in vocabulary.widener(EXAMPLE).widen("berth productivity").widenings[0].added


def test_the_house_comes_before_the_trades() -> None:
    house = 'title = "House"\n[[abbreviations]]\nshort = "EPS"\nlong = "emergency power supply"\n'
    first, second = vocabulary.widener(house).widen("What does the EPS cost?").widenings
    assert (first.trade, first.added) == ("House", ("emergency power supply",))
    assert second.trade == "Finance"


def test_what_is_made_of_a_glossary_is_made_once() -> None:
    assert vocabulary.widener() is vocabulary.widener("")
    assert vocabulary.widener(EXAMPLE) is vocabulary.widener(str(EXAMPLE.encode(), "utf-8"))
    assert vocabulary.landmarks() is vocabulary.landmarks("")
    assert vocabulary.landmarks(EXAMPLE) is not vocabulary.landmarks("")


# --- what would cost the server its memory or its time ---


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (".".join("a" * 90_000) + " = 1", "too many parts"),
        ("[" + ".".join("a" * 90_000) + "]", "too many parts"),
        ('"a b" . ' * 50 + "a = 1", "too many parts"),
        ("title = " + "[" * 90_000, "nested too deeply"),
        ("title = " + "9" * 100_000, "not valid TOML"),
        ("\n".join(f"a{number} = 1" for number in range(9_000)), "unknown key; and 8996 more"),
        ('title = "a\\u0000b"', "title: has no letter or digit where it needs one, or a line break"),
        ('title = """a\nb"""', "or a line break"),
        ('title = "a"\n[[abbreviations]]\nshort = "a\\nb"\nlong = "c"', "abbreviations 1, short"),
        (f'title = "{"a" * 201}"', "has more than 200 characters"),
        (f'title = "a"\n[[synonyms]]\nterms = {[f"t{number}" for number in range(101)]}', "has more than 100"),
    ],
)
def test_what_is_no_honest_glossary_is_refused_at_once(toml: str, message: str) -> None:
    with pytest.raises(errors.ValidationError, match=message) as refused:
        load(toml)
    assert len(refused.value.message) < 1000


def test_a_term_may_have_dots_and_a_key_may_have_parts() -> None:
    assert load(f'title = "{"." * 100} a.b.c"').title.endswith("a.b.c")
    with pytest.raises(errors.ValidationError, match="a: unknown key"):
        load('title = "x"\na.b.c = 1')


def test_terms_that_begin_alike_cost_no_more_than_others() -> None:
    """Compared one by one, each word of the question or page would be compared with thousands."""
    terms = [
        [f"the {chr(97 + number % 26)}{number}" for number in range(start, start + 100)]
        for start in range(0, 8000, 100)
    ]
    alike = Widener([load(with_synonyms("", terms))])
    (widening,) = alike.widen("the " * 1000 + "the b27 the").widenings
    assert widening.found == "the b27"
    shorts = "".join(f'[[abbreviations]]\nshort = "A-{number}"\nlong = "b"\n' for number in range(4000))
    found = Widener([load(f'title = "a"\n{shorts}')]).widen("A " * 1000 + "the A-7, the A-77s and the A-777.").widenings
    assert [widening.found for widening in found] == ["A-7"]  # the others would add the same


def test_a_term_is_not_found_where_the_question_ends_before_it() -> None:
    toml = with_synonyms("", [["net", "clear"], ["net sales of goods", "turnover"]])
    (widening,) = Widener([load(toml)]).widen("What is net").widenings
    assert (widening.found, widening.added) == ("net", ("clear",))


def test_places_of_a_glossary_are_recognised() -> None:
    lines = ["Daily terminal log", "Vessel alongside 04:10", "First line ashore 04:02", "Crane moves 212"]
    page = [
        Line(number=number, page_number=1, bbox=(0, 0, 1, 1), text=text, kind=BlockKind.TEXT)
        for number, text in enumerate(lines, 1)
    ]
    (mark,) = [mark for mark in vocabulary.landmarks(EXAMPLE).find(page) if mark.name == "terminal log"]
    assert mark.strength > 0.5
    assert "terminal log" not in {mark.name for mark in vocabulary.landmarks().find(page)}


# --- the table ---


def test_a_table_makes_a_glossary() -> None:
    made = load(with_synonyms("", [["box", "container"], ["crate, large", 'a "case"']]))
    assert made.title == "Glossary"
    assert [group.terms for group in made.synonyms] == [("box", "container"), ("crate, large", 'a "case"')]


def test_what_the_table_does_not_change_stays_as_it_is_written() -> None:
    assert with_synonyms(EXAMPLE, GROUPS) == EXAMPLE
    changed = with_synonyms(EXAMPLE, [[*GROUPS[0], "crate"], GROUPS[1]])
    assert changed == EXAMPLE.replace('"container"]', '"container", "crate"]')
    assert with_synonyms(changed, GROUPS) == EXAMPLE
    longer = with_synonyms(EXAMPLE, [*GROUPS, ["x", "y"]])
    assert longer.replace('[[synonyms]]\nterms = ["x", "y"]\n\n', "") == EXAMPLE
    assert with_synonyms(longer, GROUPS) == EXAMPLE
    assert "# Words that mean the same" in with_synonyms(EXAMPLE, [])


@pytest.mark.parametrize(
    "toml", ["", EXAMPLE, EXAMPLE.replace("\n", "\r\n"), 'title = "a"', 'title = "a"\n\n# the end']
)
@settings(deadline=None, max_examples=20)
@given(first=TABLES, second=TABLES)
def test_any_table_is_kept(toml: str, first: list[list[str]], second: list[list[str]]) -> None:
    for groups in (first, second):
        toml = with_synonyms(toml, groups)
        assert [[*group.terms] for group in load(toml).synonyms] == groups


@pytest.mark.parametrize(
    ("toml", "groups", "message"),
    [
        ("", [["box"]], "synonyms 1, terms: needs at least 2"),
        ("", [["a", "b"], ["c", "…"]], "synonyms 2, terms 2: has no letter or digit"),
        ('title = "x"\nsynonyms = [{terms = ["a", "b"]}]', [["a", "c"]], "in a way that a table cannot change"),
        ('title = "x"\n[["synonyms"]]\nterms = ["a", "b"]', [["a", "c"]], "in a way that a table cannot change"),
        ("no TOML", [], "not valid TOML"),
    ],
)
def test_a_table_that_cannot_be_kept_says_so(toml: str, groups: list[list[str]], message: str) -> None:
    with pytest.raises(errors.ValidationError, match=message):
        with_synonyms(toml, groups)


def test_rows_are_tidied() -> None:
    rows: list[Row] = [
        {TERM: " box ", ALSO: ["container", "", " box"]},
        {TERM: None, ALSO: None},
        {TERM: "", ALSO: []},
        {TERM: None, ALSO: ["crate", "case"]},
        {},
    ]
    assert groups_of(rows) == [["box", "container"], ["crate", "case"]]
