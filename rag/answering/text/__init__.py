"""Analysis of sentences, words, numbers and names."""
