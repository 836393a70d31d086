"""What is done: one verb a file."""
