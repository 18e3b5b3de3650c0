"""The plugins, by the names that a configuration gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ...volcano.conf import Arguments
from ..session import Plugin

BUILDERS: Mapping[str, Callable[[Arguments], Plugin]] = MappingProxyType({})
