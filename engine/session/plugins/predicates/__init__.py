"""Plugin ``predicates``: kube-scheduler's filters, one module each, and Volcano's order of them."""

from .predicates_plugin import Predicates

__all__ = ["Predicates"]
