"""Verification of claims against their sources."""
