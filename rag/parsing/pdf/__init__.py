"""Text, layout and rendering of PDF pages."""
