"""The shape of the machine."""
