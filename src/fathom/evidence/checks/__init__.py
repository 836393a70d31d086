"""Rules that compare a statement with its quotes in code: figures, dates, names, negation, roles, scope."""
