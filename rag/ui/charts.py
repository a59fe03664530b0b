"""What all charts have in common. The browser draws them with what Streamlit brings: nothing is fetched elsewhere."""

import altair as alt
import pandas as pd  # noqa: F401 – altair asks for it only if another thread has begun to load it, and may get half of it

MOMENT = "%d %b %Y, %H:%M"
"""A moment where it is told in full."""


def time_axis() -> alt.Axis:
    """Without a title, and with a day of 24 hours."""
    short, exact = "%H:%M", "%H:%M:%S"
    formats = {"hours": short, "minutes": short, "seconds": exact, "milliseconds": exact}
    return alt.Axis(title=None, format=formats, labelOverlap=True)
