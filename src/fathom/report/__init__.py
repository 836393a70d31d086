"""From checked sections to what a reader gets."""
