"""The admin, audit, settings and status pages."""
