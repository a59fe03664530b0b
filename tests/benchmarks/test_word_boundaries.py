"""Words that parsing glues together or splits are told from those that touch or stand elsewhere."""

from benchmarks.word_boundaries import Word, glued_words, split_words


def words_of(line: str, *, gap: float = 3, width: float = 6) -> list[Word]:
    """The words of a line, each as far from the one before as `gap`."""
    found, x = [], 0.0
    for word in line.split():
        found.append(Word(word, (x, 0, x + width * len(word), 12)))
        x += width * len(word) + gap
    return found


def test_words_glued_together_are_found() -> None:
    found = glued_words(words_of("is the highest federal court"), [["is", "thehighestfederal", "court"]])
    assert found == [("thehighestfederal", "the highest federal")]
    assert not split_words(words_of("is the highest"), [["is", "thehighest"]])


def test_a_footnote_mark_that_touches_its_word_is_not_glued_to_it() -> None:
    assert not glued_words(words_of("court 1", gap=0.1), [["court1"]])


def test_lines_below_one_another_do_not_touch() -> None:
    below = [Word("aims", (0, 0, 20, 12)), Word("to", (100, 0, 112, 12)), Word("predict", (0, 10, 35, 22))]
    assert glued_words(below, [["aims", "topredict"]]) == [("topredict", "to predict")]


def test_a_word_that_was_split_is_found() -> None:
    assert split_words(words_of("a lighthouse"), [["a", "light", "house"]]) == [("light house", "lighthouse")]
    assert not split_words(words_of("a lighthouse"), [["light", "a", "house"]])


def test_the_same_words_in_another_order_are_no_error() -> None:
    expected = words_of("one two three")
    assert not glued_words(expected, [["three", "one"], ["two"]])
    assert not split_words(expected, [["three", "one"], ["two"]])
