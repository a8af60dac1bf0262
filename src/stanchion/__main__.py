"""`python -m stanchion` is the `stanchion` command."""

import sys

from stanchion.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
