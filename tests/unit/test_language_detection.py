"""The language of a document, from nothing but its text."""

import warnings

import pytest

from rag import parsing
from rag.ingestion import language_detection

TEXTS = {
    "english": "The committee approved the budget for the new harbour after a long debate about its costs.",
    "german": "Der Ausschuss hat den Haushalt für den neuen Hafen nach langer Debatte über die Kosten gebilligt.",
    "french": "Le comité a approuvé le budget du nouveau port après un long débat sur les coûts.",
    "spanish": "El comité aprobó el presupuesto del nuevo puerto tras un largo debate sobre los costes.",
    "italian": "Il comitato ha approvato il bilancio del nuovo porto dopo un lungo dibattito sui costi.",
    "dutch": "De commissie heeft na een lang debat over de kosten de begroting voor de nieuwe haven goedgekeurd.",
    "swedish": "Kommittén godkände budgeten för den nya hamnen efter en lång debatt om kostnaderna.",
    "norwegian": "Komiteen godkjente budsjettet for den nye havnen etter en lang debatt om hvor mye den ville koste.",
    "russian": "Комитет утвердил бюджет нового порта после долгих споров о его стоимости.",
    "arabic": "وافقت اللجنة على ميزانية الميناء الجديد بعد نقاش طويل حول تكاليفه.",
    "turkish": "Komite, maliyetlere ilişkin uzun bir tartışmanın ardından yeni limanın bütçesini onayladı.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_languages_with_stems(language: str) -> None:
    assert language_detection.detect(TEXTS[language]) == language


@pytest.mark.parametrize(
    "text",
    [
        "委员会经过长时间的辩论后批准了新港口的预算。",
        "委員会は、費用に関する長い議論の末、新しい港の予算を承認しました。",
        "위원회는 비용에 대한 긴 토론 끝에 새 항구의 예산을 승인했습니다.",
        "Komisja zatwierdziła budżet nowego portu po długiej debacie na temat jego kosztów.",
    ],
)
def test_languages_without_stems(text: str) -> None:
    assert language_detection.detect(text) == "simple"


@pytest.mark.parametrize(
    "text", ["", "Hello World", "Potato", "1 2 3 4 5 6 7 8 9 10", "A1 B2 C3", "\x00\ud800", "13 MARCH"]
)
def test_what_tells_no_language_is_taken_for_english(text: str) -> None:
    assert language_detection.detect(text) == "english"


def test_of_a_long_text_a_little_is_read_from_all_over_it() -> None:
    """A foreword in another language does not decide, and the time does not grow with the text."""
    text = TEXTS["french"] * 60 + TEXTS["german"] * 2000
    assert language_detection.detect(text) == "german"


def test_the_same_text_always_has_the_same_language_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parsing.language_identifier.cache_clear()
        found = [language_detection.detect(TEXTS["norwegian"]) for _ in range(2)]
        parsing.language_identifier.cache_clear()
        assert {*found, language_detection.detect(TEXTS["norwegian"])} == {"norwegian"}


def test_a_language_has_a_code_unless_it_may_be_a_guess() -> None:
    codes = [language_detection.language_code(name) for name in ("german", "french", "english", "simple")]
    assert codes == ["de", "fr", None, None]
