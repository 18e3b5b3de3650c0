"""JSON in ASCII: no character in it moves a terminal's cursor, and half characters do no harm."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse


def ascii_json(value: Any) -> bytes:
    """Return a value as JSON in printable ASCII."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("\x7f", "\\u007f").encode("ascii")


class PlainJSON(JSONResponse):
    """An answer in JSON, in printable ASCII."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return ascii_json(content)
