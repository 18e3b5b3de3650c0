"""What a question is about if it does not name it."""

from __future__ import annotations

DEFAULT_RELEASE = "v1.12.1"
"""The release of Volcano, if neither the question nor the log names one."""
