"""Matrices: many questions to many documents."""
