"""Indexes of a user: models, statistics and health."""
