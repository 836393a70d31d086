"""Text processing in any script: words, sentences, languages, similarity, token counts."""
