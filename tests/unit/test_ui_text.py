"""Text of documents and models cannot act on the page."""

import re

import pytest

from rag.types import OverviewEstimate
from rag.ui import formatting
from rag.ui.library import overview


@pytest.mark.parametrize(
    "hostile",
    [
        "![x](https://evil.example/?q=1)",
        "[click](https://evil.example)",
        "<https://evil.example>",
        "<img src=https://evil.example/x.png>",
        "<script>alert(1)</script>",
        "[a]\n\n[a]: https://evil.example",
        "![a]\n\n[a]: https://evil.example 'title'",
        "`<img src=x onerror=alert(1)>`",
        "```\n<iframe src=//evil.example>\n```",
    ],
)
def test_rendered_text_has_no_link_picture_or_foreign_html(hostile: str) -> None:
    tags = re.findall(r"</?([a-zA-Z]+)[^>]*>", formatting.render(hostile))
    assert set(tags) <= {"p", "code", "pre"}


def test_character_references_stay_as_they_are_written() -> None:
    assert formatting.render("Up &#91;S9&#93; &lt;b&gt;") == "<p>Up &amp;#91;S9&amp;#93; &amp;lt;b&amp;gt;</p>\n"


def test_rendered_text_keeps_markdown() -> None:
    html = formatting.render("**Bold** and\n\n- one\n- two\n\n|a|b|\n|-|-|\n|1|2|")
    assert "<strong>Bold</strong>" in html
    assert html.count("<li>") == 2
    assert "<td>1</td>" in html


def test_insert_takes_the_place_of_a_match_and_of_nothing_else() -> None:
    html = formatting.render(
        "Yes [S1], no [S9] \ue0000\ue001.", lambda m: "<b>1</b>" if m[1] == "S1" else None, r"\[(S\d)\]"
    )
    assert html.count("<b>1</b>") == 1
    assert "[S9]" in html


@pytest.mark.parametrize("name", ["a_b*c*.pdf", ":red[x]", "# top", "[x](http://evil.example)", "$x^2$", "1. a", "`c`"])
def test_plain_leaves_no_markdown_to_be_read(name: str) -> None:
    label = formatting.escape(name)
    assert re.search(r"(?<!\\)[*_`\[\]#$<>]", label) is None
    assert ":red" not in label
    assert "://" not in label
    assert re.sub("[\\\\\u2060]", "", label) == name


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (999, "999 B"), (1234, "1.2 kB"), (245_000, "245 kB"), (5_000_000_000, "5.0 GB")]
)
def test_file_sizes_are_written_for_people(count: int, shown: str) -> None:
    assert formatting.file_size(count) == shown


def test_list_items_keep_their_numbers() -> None:
    numbers = re.findall(r'<li value="(\d+)">', formatting.render("Of the list:\n\n2. Integrity\n\n6. Excellence"))
    assert numbers == ["2", "6"]


def test_an_estimate_shows_the_models_name_and_the_cost_as_they_are() -> None:
    estimate = OverviewEstimate(model="vendor:a$b", input_tokens=1, output_tokens=2, cost_usd=1.5)
    shown = overview._estimate(estimate)
    assert "a\\$b reads" in shown
    assert "at most \\$1.50 by" in shown
