"""Plugin ``nodeorder``: kube-scheduler's scores, one module each, and Volcano's weights."""

from .nodeorder_plugin import NodeOrder

__all__ = ["NodeOrder"]
