"""The log: append-only, gap-free, hash-chained, in one SQLite file or a Postgres schema."""

from ..events import NO_TIME
from .opening import check_place, open_log
from .store import (
    MAIN,
    NO_REVISION,
    Appended,
    BranchInfo,
    Checkpoint,
    Chunk,
    ClockBlock,
    Extent,
    FactBlock,
    FoldWindow,
    HeadInfo,
    HeldHead,
    LogInfo,
    LogStore,
    Query,
    TimeCut,
    VerifyReport,
)

__all__ = [
    "MAIN",
    "NO_REVISION",
    "NO_TIME",
    "Appended",
    "BranchInfo",
    "Checkpoint",
    "Chunk",
    "ClockBlock",
    "Extent",
    "FactBlock",
    "FoldWindow",
    "HeadInfo",
    "HeldHead",
    "LogInfo",
    "LogStore",
    "Query",
    "TimeCut",
    "VerifyReport",
    "check_place",
    "open_log",
]
