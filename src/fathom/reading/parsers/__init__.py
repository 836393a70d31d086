"""One parser a format: bytes or text in, a `Document` out."""
