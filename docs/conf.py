"""The documentation site: Markdown pages and an API reference from docstrings. `make docs` builds it."""

from importlib.metadata import version as installed_version

project = "Fathom"
release = installed_version("fathom-research")
html_title = f"Fathom {release}"
html_theme = "alabaster"
html_theme_options = {
    "description": "Deep research whose every sentence can be checked.",
    "page_width": "1100px",
}

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 3
default_role = "code"  # docstrings write `name` in single backticks
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "exclude-members": "model_config"}
