"""Terms that documents define, and the values that they stand for."""

import pytest

from rag.answering.fields.defined_terms import defined_terms, name_before


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            (
                "This lease is made by and between NORLAND QUARRIES II, LLC, an Oslo firm (“Landlord”), and Ada Holm, "
                "a resident (the “Tenant”)."
            ),
            {"Landlord": "NORLAND QUARRIES II, LLC", "Tenant": "Ada Holm"},
        ),
        (
            (
                'entered into this 3rd day of May, 2019, by Sven Aasen, 9 Quay Street, hereinafter referred to as "the '
                'OWNER", and the Kingdom of Norway, acting by Liv Dahl, hereinafter called "the HOLDER"'
            ),
            {"the OWNER": "Sven Aasen", "the HOLDER": "Kingdom of Norway"},
        ),
        (
            "by and between Norland Consulting (Pty) Limited, whose office is in Oslo (“Norland”), and CRX Ltd (“CRX”)",
            {"Norland": "Norland Consulting (Pty) Limited", "CRX": "CRX Ltd"},
        ),
    ],
)
def test_parties_are_named_before_their_terms(text: str, names: dict[str, str]) -> None:
    found = {term.term: name_before(text, term.start, term.end) for term in defined_terms(text)}
    assert {term: text[slice(*name)] if name else None for term, name in found.items()} == names


def test_a_term_begins_its_definition_or_stands_behind_it() -> None:
    text = "“Closing Date” means May 3, 2019. Notice of 30 days (the “Notice Period”) is given. “Fees”: none."
    parts = [(term.term, text[term.start : term.end].strip(), term.is_behind) for term in defined_terms(text)]
    assert [(term, is_behind) for term, _, is_behind in parts] == [
        ("Notice Period", True),
        ("Closing Date", False),
        ("Fees", False),
    ]
    assert parts[0][1].endswith("Notice of 30 days")
    assert parts[1][1].startswith("May 3, 2019")


def test_quoted_words_define_nothing() -> None:
    assert not defined_terms("He said “never” and left (with a smile).")
