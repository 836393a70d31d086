"""How to read words, sentences and likeness out of text, in any script."""
