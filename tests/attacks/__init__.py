"""Attacks on real processes: tests run them, and `make attack` prints what held and what broke."""
