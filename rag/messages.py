"""Messages for people, marked where they are made and translated where they are shown."""


def N_(message: str) -> str:  # noqa: N802 - as gettext's users call it
    """Mark a message for translation; a `{_field}` whose name begins with an underscore is a message itself."""
    return message
