"""What to ask next: effort, perspectives, candidates, choice, and what earlier rounds taught."""
