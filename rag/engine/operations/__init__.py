"""Operation of an installation: settings, status, export and cleanup."""
