"""Plugin ``tdm``: nodes of revocable zones, which jobs may use only at times."""

from .plugin import Tdm

__all__ = ["Tdm"]
