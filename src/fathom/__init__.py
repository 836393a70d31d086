"""Fathom: a deep-research agent whose every sentence leads back to a quotation."""
