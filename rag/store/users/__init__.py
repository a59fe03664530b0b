"""Accounts, keys, logins, sharing and the audit log."""
