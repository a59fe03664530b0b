"""Tables of PDF pages: their cells, columns, rows and heads."""
