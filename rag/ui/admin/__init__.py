"""The admin, audit, glossary, settings and status pages."""
