"""What Fathom adds to a server: protection of its routes, and who may use it."""
