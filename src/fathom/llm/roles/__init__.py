"""For each role: what its prompt shows, and how its answer is read."""
