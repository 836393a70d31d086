"""Audit of a report by anybody: its statements, what they cite, and whether the sources say so."""
