"""What differs between model providers."""
