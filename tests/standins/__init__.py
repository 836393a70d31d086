"""Servers on 127.0.0.1 that speak the documented formats of the services Fathom uses."""
