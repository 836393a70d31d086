"""What a run remembers, and how much of it a prompt gets."""
