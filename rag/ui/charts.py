"""What all charts have in common. The browser draws them with what Streamlit brings: nothing is fetched elsewhere."""

import altair as alt

MOMENT = "%d %b %Y, %H:%M"
"""A moment where it is told in full."""


def time_axis() -> alt.Axis:
    """Without a title, and with a day of 24 hours."""
    return alt.Axis(title=None, format={"hours": "%H:%M", "minutes": "%H:%M"}, labelOverlap=True)
