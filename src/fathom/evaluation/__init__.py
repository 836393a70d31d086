"""How good reports are: scored against a reference, their citations audited, and compared."""
