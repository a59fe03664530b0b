"""Text whose letters form no words."""

import pytest

from rag.answering.text.legibility import is_legible


@pytest.mark.parametrize(
    "text",
    [
        "vlk/kkj.k",
        'bl Hkkx esa fHkUu i`"B la[;k nh tkrh gS ftlls fd ;g vyx ladyu ds :i esa j[kk tk ldsA',
        "izkf/kdkj ls izdkf'kr",
    ],
)
def test_letters_of_another_script_are_illegible(text: str) -> None:
    assert not is_legible(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2021",
        "The harbour is 40 km long and 3 m deep, vs. 12 ft in 1990.",
        "Mr. Strand joined Acme Ltd. in Zürich.",
        "HTML, JSON, XML and PDF/A files; see RFC 2616",
        "Die Gesellschaft beschäftigt 5.000 Mitarbeiter (z. B. in Brno).",
        "सी.जी.-डी.एल.",
        "Schifffahrtsgesellschaft mbH & Co. KG",
        "p(x | θ) is compared with q",
    ],
)
def test_words_abbreviations_and_other_scripts_are_legible(text: str) -> None:
    assert is_legible(text)
