"""Preferences of an installation and keys of vendors."""
