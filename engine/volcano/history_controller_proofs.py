"""Recorded outcomes that depend on rows of the cache's and the controllers' history.

See :mod:`.proofs`; as in :mod:`.history_proofs`, a row is known by its behaviour and by where the
main line got it, and a proof is a case and a release for which the row holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

RECORDED: tuple[str, ...] = ()
"""Releases whose cache or controllers outcomes were recorded of."""

PROOFS: Mapping[tuple[str, str], tuple[str, str]] = MappingProxyType({})
