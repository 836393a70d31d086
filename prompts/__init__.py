"""What models are told."""
