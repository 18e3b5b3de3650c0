"""The plugins, by the names that a configuration gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ...volcano.conf import Arguments
from ..session import Plugin
from .cdp import Cdp
from .conformance import Conformance
from .drf import Drf
from .gang import Gang
from .overcommit import Overcommit
from .pdb import Pdb
from .priority import Priority
from .proportion import Proportion
from .resourcequota import ResourceQuota
from .sla import Sla
from .tdm import Tdm

BUILDERS: Mapping[str, Callable[[Arguments], Plugin]] = MappingProxyType(
    {
        "cdp": Cdp,
        "conformance": Conformance,
        "drf": Drf,
        "gang": Gang,
        "overcommit": Overcommit,
        "pdb": Pdb,
        "priority": Priority,
        "proportion": Proportion,
        "resourcequota": ResourceQuota,
        "sla": Sla,
        "tdm": Tdm,
    }
)
