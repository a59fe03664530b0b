"""Commands on files and documents."""
