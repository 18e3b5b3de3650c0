"""Truth: what the API server held, rebuilt from the log."""

from .facts import VERSION
from .fold import Fold
from .truth_fold import Entry, Truth

__all__ = ["VERSION", "Entry", "Fold", "Truth"]
