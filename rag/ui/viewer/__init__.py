"""The PDF viewer beside answers, and the server that feeds it pages."""
