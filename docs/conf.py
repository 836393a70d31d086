"""The documentation site: Markdown pages and an API reference made from docstrings. `make docs` builds it."""

from importlib.metadata import version as installed_version

project = "Fathom"
author = "The Fathom authors"
version = release = installed_version("fathom-research")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "alabaster"
html_title = f"Fathom {release}"
exclude_patterns = ["build"]
myst_heading_anchors = 3
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
nitpicky = False
