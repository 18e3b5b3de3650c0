"""Plugin ``tdm``: nodes of revocable zones, which jobs may use only at times."""

from .tdm_plugin import Tdm

__all__ = ["Tdm"]
