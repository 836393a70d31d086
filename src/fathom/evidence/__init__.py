"""Evidence: ground quotes, verify claims, compare them, and measure what is known."""
