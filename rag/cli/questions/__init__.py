"""Commands that search, ask and evaluate."""
