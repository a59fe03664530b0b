"""Commands that run and administer an installation."""
