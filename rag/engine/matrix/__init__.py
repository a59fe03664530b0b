"""Matrices: a table of questions and documents."""
