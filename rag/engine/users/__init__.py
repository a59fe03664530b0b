"""Users, their access, and collections shared between them."""
