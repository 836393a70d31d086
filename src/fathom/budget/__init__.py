"""Prices, budgets and time limits."""
