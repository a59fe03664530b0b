"""What a terminal, or a file instead of it, gets to see of long work."""

import pytest

from rag.cli import output


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.usefixtures("terminal")
def test_the_bar_is_that_of_the_stage_told_of_last(capsys: pytest.CaptureFixture[str]) -> None:
    with output.show_progress(tables="Tables") as shown:
        shown("tables", 3, 12)
        shown.bars.refresh()
        assert "Tables" in (first := capsys.readouterr().err)
        assert "25%" in first
        shown("files of [b]me[/b]", 1200, 0)
        shown.bars.refresh()
    second = capsys.readouterr().err
    assert "files of [b]me[/b]" in second
    assert "1,200" in second
    assert "Tables" not in second


def test_a_file_gets_only_the_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with output.show_progress() as shown:
        shown("reading", 1, 2)
        shown.print_line(("✓", "green"), "[bold]report.pdf", "2 pages")
    captured = capsys.readouterr()
    assert captured.err.strip() == "✓ [bold]report.pdf  2 pages"
    assert captured.out == ""
