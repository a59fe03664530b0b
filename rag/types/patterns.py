"""Regular expressions of what may be sent, each the pattern of a field."""

STORABLE = r"^[^\x00]*$"
"""Text that PostgreSQL can keep."""

TEXT = r"^[^\x00]*[^\x00-\x20\x7f-\xa0\s][^\x00]*$"
"""The same, and not only white space and control characters."""

LINE = r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f-\xa0\s][^\x00-\x1f\x7f]*$"
"""One line of text, with something visible on it."""

SEGMENT = r"^[^/\\\x00-\x1f\x7f]*[^/\\.\x00-\x20\x7f-\xa0\s][^/\\\x00-\x1f\x7f]*$"
"""The same, where it can be one part of an address: without slashes, and not only dots."""

NAME = r"^[^<>:\"/\\|?*\x00-\x1f]+$"
"""What a collection may be called."""

PRINTABLE = r"^[\x21-\x7e]+$"
"""What stands in a header without more ado."""

BOX = r"^\d{1,5}(\.\d{1,6})?(,\d{1,5}(\.\d{1,6})?){3}$"
"""Left, top, right and bottom of a box, in an address."""
