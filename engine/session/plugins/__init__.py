"""The plugins, by the names that a configuration gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ...volcano.conf import Arguments
from ..framework.session import Plugin
from .binpack import Binpack
from .capacity import Capacity
from .cdp import Cdp
from .conformance import Conformance
from .deviceshare import DeviceShare
from .drf import Drf
from .extender import Extender
from .gang import GangPlugin
from .network_topology_aware import NetworkTopologyAware
from .nodegroup import NodeGroupPlugin
from .nodeorder import NodeOrder
from .numaaware import NumaAware
from .overcommit import Overcommit
from .pdb import Pdb
from .predicates import Predicates
from .priority import Priority
from .proportion import Proportion
from .rescheduling import Rescheduling
from .resource_strategy_fit import ResourceStrategyFit
from .resourcequota import ResourceQuotaPlugin
from .sla import Sla
from .task_topology import TaskTopologyPlugin
from .tdm import Tdm
from .usage import Usage

BUILDERS: Mapping[str, Callable[[Arguments], Plugin]] = MappingProxyType(
    {
        "binpack": Binpack,
        "capacity": Capacity,
        "cdp": Cdp,
        "conformance": Conformance,
        "deviceshare": DeviceShare,
        "drf": Drf,
        "extender": Extender,
        "gang": GangPlugin,
        "network-topology-aware": NetworkTopologyAware,
        "nodegroup": NodeGroupPlugin,
        "nodeorder": NodeOrder,
        "numa-aware": NumaAware,
        "overcommit": Overcommit,
        "pdb": Pdb,
        "predicates": Predicates,
        "priority": Priority,
        "proportion": Proportion,
        "rescheduling": Rescheduling,
        "resource-strategy-fit": ResourceStrategyFit,
        "resourcequota": ResourceQuotaPlugin,
        "sla": Sla,
        "task-topology": TaskTopologyPlugin,
        "tdm": Tdm,
        "usage": Usage,
    }
)

NEWER_PLUGINS = frozenset(
    {
        "capacity",
        "deviceshare",
        "network-topology-aware",
        "nodegroup",
        "pdb",
        "resource-strategy-fit",
    }
)
"""Plugins that not all releases have."""
