"""A picture that follows the reader's theme: as SVG, and as a page that needs no network."""

from __future__ import annotations

import re
from html import escape

from .characters import lines_of_picture
from .image import SVG, image_of
from .picture import Picture
from .picture_words import period_text
from .themes import AUTO, COLOURS, DARK, LIGHT, pairs

_SVG, _HEAD_ENDS = "<svg ", ">"
_INDENT = re.compile(r"^ +", re.MULTILINE)
_CHARACTERS = 100
"""The width of the picture in characters, for those who cannot see it."""


def svg_of(picture: Picture, theme: str = AUTO) -> str:
    """Return a picture as SVG.

    :param theme: ``auto`` follows the reader's; a program that cannot gets the light one.
    """
    drawn = image_of(picture, SVG, LIGHT if theme == AUTO else theme).decode()
    # What comes before the element, and the spaces before lines, say nothing.
    head, end, body = _INDENT.sub("", _SVG + drawn.partition(_SVG)[2]).partition(_HEAD_ENDS)
    said = f"<title>{escape(_title(picture))}</title>\n"
    said += f"<desc>{escape('; '.join(picture.notes or (picture.empty,)))}</desc>\n"
    if theme == AUTO:
        said += f"<style>{_dark_rules(drawn)}</style>"
    return f"{head}{end}\n{said}{body}"


def page_of(picture: Picture, theme: str = AUTO) -> str:
    """Return a picture as a page: the SVG, and the same in characters for screen readers."""
    light, dark = (COLOURS[name] for name in (LIGHT, DARK))
    chosen = light if theme == AUTO else COLOURS[theme]
    style = f"body{{margin:1.5rem;background:{chosen.paper};color:{chosen.ink};"
    style += "font-family:sans-serif}svg{max-width:100%;height:auto}pre{overflow:auto}"
    if theme == AUTO:
        style += f"@media (prefers-color-scheme:dark){{body{{background:{dark.paper};"
        style += f"color:{dark.ink}}}}}"
    words = escape("".join(lines_of_picture(picture, width=_CHARACTERS)))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n'
        f'<meta name="color-scheme" content="{"light dark" if theme == AUTO else theme}">\n'
        f"<title>{escape(_title(picture))}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{svg_of(picture, theme)}"
        f"<details><summary>In characters</summary><pre>{words}</pre></details>\n</body>\n</html>\n"
    )


def _title(picture: Picture) -> str:
    return f"{picture.title} ({picture.log}, {period_text(picture.period)})"


def _dark_rules(drawn: str) -> str:
    """Return rules that replace each light colour in an SVG by its dark one."""
    rules = (
        f'[style*="{what}: {light}"]{{{what}:{dark}!important}}'
        for light, dark in pairs().items()
        for what in ("fill", "stroke")
        if f"{what}: {light}" in drawn
    )
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"
