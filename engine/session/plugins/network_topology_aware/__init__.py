"""Plugin ``network-topology-aware``: hypernodes for jobs with a network topology."""

from .network_topology_plugin import NetworkTopologyAware

__all__ = ["NetworkTopologyAware"]
