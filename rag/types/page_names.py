"""How pages are called: by their number in the file, and by what is printed on them."""


def page_name(number: int, label: str | None = None, count: int = 0) -> str:
    """A page as people find it: "page 54", or where another number is printed on it "p. 53 (page 54 of 203)".

    The label of a sheet's page, "Balance!A1:H40", is no number: its cells are named beside.
    """
    if label is None or label == str(number) or "!" in label:
        return f"page {number}"
    return f"p. {label} (page {number} of {count})" if count else f"p. {label} (page {number})"
