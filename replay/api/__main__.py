"""The command line as a program: ``plinian``, and ``python -m plinian``."""

from __future__ import annotations


def main() -> None:
    """Run the command line; an interrupt ends it quietly, also while it is being loaded."""
    try:
        from .replay.cli.main import main as run  # noqa: PLC0415 -- loading is most of a start

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
