"""Let ``python -m plinian`` be the command line."""

from __future__ import annotations

from .replay.cli.main import main

if __name__ == "__main__":
    main()
