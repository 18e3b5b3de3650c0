"""Plugin ``predicates``: kube-scheduler's filters, one module each, and Volcano's order of them."""

from .plugin import Predicates

__all__ = ["Predicates"]
