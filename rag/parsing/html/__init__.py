"""HTML, Markdown and plain text: cleaning, and layout on PDF pages."""
