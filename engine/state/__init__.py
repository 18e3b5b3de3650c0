"""Truth: the projection of the log that says what the API server held."""

from .facts import VERSION
from .fold import Fold
from .truth import Entry, Truth

__all__ = ["VERSION", "Entry", "Fold", "Truth"]
