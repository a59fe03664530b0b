"""How pages are called: by their number in the file, and by what is printed on them."""


def page_name(number: int, label: str | None = None, count: int = 0) -> str:
    """A page as people find it: "page 54", or where another number is printed on it "p. 53 (page 54 of 203)"."""
    if label is None or label == str(number):
        return f"page {number}"
    return f"p. {label} (page {number} of {count})" if count else f"p. {label} (page {number})"
