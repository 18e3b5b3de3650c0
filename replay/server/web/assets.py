"""Style sheets and scripts: in memory, under one hash, so that browsers may keep them for ever."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ...pages.templates import style_sheets

_FOLDER = Path(__file__).with_name("static")
_TYPES = MappingProxyType(
    {
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".svg": "image/svg+xml",
    }
)


class Assets(NamedTuple):
    """All files that pages use, and the hash of all of them together."""

    digest: str
    files: dict[str, bytes]

    def path(self, name: str) -> str:
        """Return the path of a file; relative imports between scripts work there too."""
        assert name in self.files, f"there is no {name}"
        return f"/static/{self.digest}/{name}"


@cache
def assets() -> Assets:
    """Return the files, read once."""
    files = {name: text.encode() for name, text in style_sheets().items()}
    files |= {file.name: file.read_bytes() for file in _FOLDER.iterdir() if file.suffix in _TYPES}
    whole = sha256()
    for name, content in sorted(files.items()):
        # With its length, as otherwise a byte could move from one file to the next unnoticed.
        whole.update(f"{name}\0{len(content)}\0".encode())
        whole.update(content)
    return Assets(whole.hexdigest()[:12], files)


async def asset(request: Request) -> Response:
    """Answer with a file."""
    name, known = request.path_params["name"], assets()
    content = known.files.get(name)
    if content is None:
        return PlainTextResponse("there is no such file\n", status_code=404)
    # An older hash in the path gets the file of now, which must not be kept under that hash.
    current = request.path_params["digest"] == known.digest
    cache_control = "public, max-age=31536000, immutable" if current else "no-cache"
    kind = _TYPES[Path(name).suffix]
    return Response(content, headers={"Content-Type": kind, "Cache-Control": cache_control})
