"""Follow-up and suggested questions."""
