"""Processes of our own that work beside the event loop: they parse pages."""
