"""`python -m fathom`: the command line."""

import sys

from fathom.cli import main

if __name__ == "__main__":
    sys.exit(main())
