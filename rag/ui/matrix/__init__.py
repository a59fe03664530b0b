"""The matrix page: many questions to many documents."""
