"""Indexes of a user: models, statistics, health and glossary."""
