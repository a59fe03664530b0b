"""Text is decoded by the character set that is meant, and a byte that is not valid spoils no other."""

import pytest

from rag.parsing.encoding import decode, guess_dos

GERMAN = "Die Geschäftsführung erhöhte die Löhne um 5 €."
POLISH = "Spółka osiągnęła przychody w wysokości 412 milionów złotych."
FRENCH = "Le chiffre d'affaires s'élève à 412 millions d'euros, supérieur à celui de l'année précédente."


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('<meta charset="windows-1251"><p>Прилив</p>'.encode("cp1251"), "Прилив"),
        (
            '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>満潮</p>'.encode("shift_jis"),
            "満潮",
        ),
        ('<?xml version="1.0" encoding="iso-2022-jp"?><p>満潮</p>'.encode("iso-2022-jp"), "満潮"),
        ('<meta charset="iso-8859-1"><p>“Zur Möwe”</p>'.encode("cp1252"), "“Zur Möwe”"),
        ('<meta charset="latin1"><p>Zur Möwe</p>'.encode(), "Zur Möwe"),
        ('<meta charset="rot13"><p>Möwe</p>'.encode("cp1252"), "Möwe"),
    ],
)
def test_html_is_read_in_the_character_set_that_it_names(content: bytes, text: str) -> None:
    assert f"<p>{text}</p>" in decode(content, is_html=True)


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("gb2312", "gb18030", "合同金额，朱镕基"),
        ("GBK", "gb18030", "㐂𠮷"),
        ("shift_jis", "cp932", "①番の髙橋"),
        ("x-sjis", "cp932", "№１"),
        ("ks_c_5601-1987", "cp949", "똠방각하"),
        ("euc-kr", "cp949", "똠방각하"),
        ("iso-8859-9", "cp1254", "“İş” – 5 €"),
        ("iso-8859-1", "cp1252", "“5 €”"),
        ("iso-8859-11", "cp874", "ราคา “5” €"),
        ("windows-874", "cp874", "ราคา €"),
        ("big5", "big5hkscs", "香港嘅"),
        ("koi8-r", "koi8-r", "Выручка"),
        ("cp932", "cp932", "髙橋"),
        ("utf-7", "utf-7", "Größe"),
        ("euc-jp", "euc_jis_2004", "①番"),
    ],
)
def test_a_declared_character_set_means_what_it_means_to_browsers(label: str, codec: str, text: str) -> None:
    assert decode(text.encode(codec), label) == text


def test_japanese_in_seven_bits_has_what_windows_adds() -> None:
    assert decode(b"\x1b$B-!\x1b(B \x1b(I6E\x1b(B \x1b$(C(g\x1b(B x", "iso-2022-jp") == "① ｶﾅ ① x"
    assert decode("満潮は９時".encode("iso-2022-jp"), "iso-2022-jp") == "満潮は９時"


@pytest.mark.parametrize("label", [None, "utf-8", "us-ascii", "iso-8859-1", "gb2312", "nonsense"])
def test_utf_8_is_recognised_whatever_is_declared(label: str | None) -> None:
    assert decode(GERMAN.encode(), label) == GERMAN


def test_chinese_that_happens_to_be_valid_utf_8_is_chinese_where_it_is_declared() -> None:
    content = "陆陆".encode("gbk")
    assert content.decode() == "½½"
    assert decode(content, "gb2312") == "陆陆"


@pytest.mark.parametrize("label", [None, "utf-8", "us-ascii"])
@pytest.mark.parametrize(
    ("spoilt", "read"),
    [
        (b"Caf\xe9, Paris", "Café, Paris"),
        (b"\xdcber uns", "Über uns"),
        (b"Ende \xff.", "Ende \ufffd."),
        (b"Ende \xc3", "Ende \ufffd"),
        (b"Gesch\xc3ft", "Gesch\ufffdft"),
        (b"5\xb05", "5\ufffd5"),
    ],
)
def test_an_invalid_byte_spoils_nothing_else(label: str | None, spoilt: bytes, read: str) -> None:
    content = GERMAN.encode() + b"\n" + spoilt + b"\n" + GERMAN.encode()
    assert decode(content, label) == f"{GERMAN}\n{read}\n{GERMAN}"


def test_an_invalid_byte_in_a_declared_character_set_spoils_nothing_else() -> None:
    assert decode("合同".encode("gbk") + b"\xff!" + "金额".encode("gbk"), "gb2312") == "合同\ufffd!金额"


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("Имя;Город\nИван;Москва\nАнна;Казань\n", "koi8-r"),
        ("Имя;Город\nИван;Москва\nАнна;Казань\n", "cp1251"),
        ("Имя;Город\nИван;Москва\nАнна;Казань\n", "cp866"),
        ("名前,都道府県\n佐藤,東京\n", "cp932"),
        ("売上高は412百万円です。", "euc_jp"),
        ("合同金额为412万元，违约金为50万元。", "gbk"),
        ("合約金額為四百萬元,期限為三年。", "big5"),
        ("계약 금액은 412만원입니다.", "cp949"),
        ("Τα έσοδα ανήλθαν σε 412 εκατομμύρια ευρώ.", "cp1253"),
        ("ההכנסות הסתכמו ב-412 מיליון שקלים.", "cp1255"),
        ("بلغت الإيرادات 412 مليون دينار.", "cp1256"),
        ("รายได้รวม 412 ล้านบาทในปีนี้", "cp874"),
        (POLISH, "cp1250"),
        (POLISH, "iso8859-2"),
        ("Şirketin geliri 412 milyon lira olarak gerçekleşti, geçen yıla göre artış.", "cp1254"),
        (GERMAN, "cp1252"),
        (FRENCH, "cp1252"),
        (FRENCH, "mac-roman"),
        ("Café", "cp1252"),
        ("€ 100", "cp1252"),
        ("5 µm ± 1 °C × 3", "cp1252"),
        ("100 m² à 5 €", "cp1252"),
        ("“It’s fine” – © 2024 Acme® • Foo™", "cp1252"),
        ("Kapitel 1 ······· 5", "cp1252"),
        ("ÜBERSICHT ÄNDERUNG GRÖSSE – MÄRZ", "cp1252"),
    ],
)
def test_undeclared_character_sets_are_guessed(text: str, codec: str) -> None:
    assert decode(text.encode(codec)) == text
    assert decode(b"Only in ASCII at first.\n" * 20_000 + text.encode(codec)).endswith(text)


@pytest.mark.parametrize("codec", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_decides(codec: str) -> None:
    assert decode(GERMAN.encode(codec), "koi8-r") == GERMAN


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("契約書.pdf", "cp932"),
        ("テスト.txt", "cp932"),
        ("合同金额.pdf", "gb18030"),
        ("계약서.pdf", "cp949"),
        ("Договор.pdf", "cp866"),
        ("Müller_Größe.txt", "cp437"),
        ("Straße.txt", "cp437"),
        ("Größe.txt", "cp1252"),
        ("Café.pdf", "cp1252"),
    ],
)
def test_the_code_page_of_file_names_is_guessed(name: str, codec: str) -> None:
    assert guess_dos(name.encode(codec)) == codec
