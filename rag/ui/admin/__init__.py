"""Pages for administration and settings."""
