"""The web server on loopback, for the tests of fetching."""

from standins.site import reply, site

__all__ = ["reply", "site"]
