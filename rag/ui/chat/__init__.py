"""The chat page: conversations, answers and what can be done with them."""
