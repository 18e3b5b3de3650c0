"""A hook of MkDocs: pages outside ``docs/``, and anchors as code forges make them.

The READMEs, CONTRIBUTING, CHANGELOG, SECURITY, CODE_OF_CONDUCT and the licence are pages of the
site as well, and files that pages link to outside ``docs/`` are copied. ``mkdocs.yml`` names this
file; MkDocs calls what begins with ``on_``.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

OUTSIDE = (
    ("README.md", "about.md"),
    ("README.zh-CN.md", "zh/about.md"),
    ("CONTRIBUTING.md", "contributing.md"),
    ("CHANGELOG.md", "changelog.md"),
    ("SECURITY.md", "security.md"),
    ("CODE_OF_CONDUCT.md", "conduct.md"),
    ("LICENSE", "licence.md"),
    ("docker-compose.yml", "docker-compose.yml"),
)
"""Files of the project that the site has, and their names there."""

_TARGET = re.compile(r"(\]\()([^)\s:#]+)((?:#[^)\s]*)?\))")


def slug(heading: str, separator: str) -> str:
    """Return the anchor of a heading: letters, digits and hyphens, a hyphen for every space."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def moved(text: str, page: str) -> str:
    """Return a page with its links rewritten for the site.

    :param page: its path in the project, from the root.
    """
    names = dict(OUTSIDE)

    def rewritten(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), match[2]))
        if target in names:
            target = f"docs/{names[target]}"
        home = posixpath.dirname(f"docs/{names[page]}" if page in names else page)
        return f"{match[1]}{posixpath.relpath(target, home)}{match[3]}"

    return _TARGET.sub(rewritten, text)


def on_config(config: Any) -> Any:
    """Let headings have the anchors that links of the pages name."""
    config.mdx_configs["toc"] = {**config.mdx_configs.get("toc", {}), "slugify": slug}
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the files outside ``docs/``."""
    from mkdocs.structure.files import File  # noqa: PLC0415 -- MkDocs is there when it calls this

    for path, name in OUTSIDE:
        text = (ROOT / path).read_text("utf-8")
        if name == "licence.md":
            text = f"# Licence\n\n```text\n{text}```\n"
        files.append(File.generated(config, name, content=moved(text, path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite links that leave ``docs/``."""
    path = f"docs/{page.file.src_uri}"
    return markdown if page.file.generated_by else moved(markdown, path)
