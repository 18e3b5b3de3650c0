"""Plugin ``network-topology-aware``: hypernodes for jobs with a network topology."""

from .plugin import NetworkTopologyAware

__all__ = ["NetworkTopologyAware"]
