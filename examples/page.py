"""Serve the page with a model of your own: any server that speaks OpenAI's format.

python examples/page.py http://localhost:8000/v1 MODEL [PORT]

Then open http://127.0.0.1:8322/. Runs are kept in the folder `page-home`; documents below the current folder
may be read. Tests run it against a stand-in model.
"""

import sys
from pathlib import Path

import uvicorn

from fathom.settings import load_settings
from fathom.web.app import make_page_app


def main(base_url: str, model: str, port: int = 8322) -> None:
    """Serve until Ctrl-C."""
    here = Path.cwd()
    settings = load_settings(base_url=base_url, model=model, home=here / "page-home", docs_roots=[here])
    uvicorn.run(make_page_app(settings), host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:4]))
