"""Whether words stand where they are said to stand."""
