"""What to ask next: pure choices among queries, directions and ways of thinking."""
