import datetime as dt

import pytest

from rag.parsing.sheets.number_formats import formatted

ACCOUNTING = '_-* #,##0.00_-;-* #,##0.00_-;_-* "-"??_-;_-@_-'


def moment(text: str) -> float:
    return (dt.datetime.fromisoformat(text) - dt.datetime.fromisoformat("1899-12-30")) / dt.timedelta(days=1)


@pytest.mark.parametrize(
    ("value", "number_format", "expected"),
    [
        (1234.5, "General", "1234.5"),
        (0.1 + 0.2, "General", "0.3"),
        (1 / 3, "General", "0.3333333333"),
        (2023, "General", "2023"),
        (1e20, "General", "1E+20"),
        (True, "General", "TRUE"),
        (1234.5, "#,##0.00", "1,234.50"),
        (412.5, "#,##0", "413"),
        (2.675, "0.00", "2.68"),
        (-1234.5, "#,##0_);(#,##0)", "(1,235)"),
        (-5, '"$"#,##0.00', "-$5.00"),
        (-0.001, "0.00", "0.00"),
        (0.253, "0.0%", "25.3%"),
        (1234567, '#,##0,"k"', "1,235k"),
        (5, "[$€-407] #,##0.00", "€ 5.00"),
        (0, '#,##0;(#,##0);"-"', "-"),
        (42, ACCOUNTING, "42.00"),
        (0, ACCOUNTING, "-"),
        ("x", ACCOUNTING, "x"),
        (0.5, "#.##", ".5"),
        (1234.5, "#,##0.0#", "1,234.5"),
        (7, "000", "007"),
        (123456789, "000-00-0000", "123456789"),
        (12345, "0.00E+00", "1.23E+04"),
        (1.25, "# ?/?", "1.25"),
        (12, "0.0x", "12.0x"),
        (5, '[Red]0" days"', "5 days"),
        (150, '[>100]"big";"small"', "big"),
        (1e30, "#,##0.0", "1,000,000,000,000,000,000,000,000,000,000.0"),
        (3, ";;;", ""),
        ("three", ";;;", "three"),
        ("three", '@" pieces"', "three pieces"),
        (float("nan"), "0.0", "#NUM!"),
        (moment("2023-12-31"), "mm-dd-yy", "2023-12-31"),
        (moment("2023-03-04"), "mmm-yy", "Mar-23"),
        (moment("2023-03-04 13:05:09"), "dddd d mmmm yyyy h:mm AM/PM", "Saturday 4 March 2023 1:05 PM"),
        (moment("2023-03-04 13:05:09"), "yyyy-mm-dd hh:mm:ss", "2023-03-04 13:05:09"),
        (9 / 24 + 5 / 24 / 60, "hh:mm", "09:05"),
        (30 / 24 + 5 / 24 / 60, "[h]:mm", "30:05"),
    ],
)
def test_values_are_shown_as_their_format_says(value: str | float, number_format: str, expected: str) -> None:
    assert formatted(value, number_format) == expected
