"""Options that several commands share, as the types of the parameters that they are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from ..questions import fields
from ..questions.fields import Field

DEFAULT_LOG = "plinian.db"
MAIN = "main"
END = "end"
"""The point after the last event."""

LogPlace: TypeAlias = Annotated[
    str,
    Field("The log: an SQLite file, or a postgresql:// URL.", "FILE|URL", variable="PLINIAN_LOG"),
]
Inputs: TypeAlias = Annotated[
    tuple[str, ...],
    Field(
        "Answer from this file, folder or archive instead of a log, as from the output of kubectl "
        "get; repeatable.",
        "PATH",
        short="i",
        name="input",
    ),
]
Cluster: TypeAlias = Annotated[str | None, Field("The cluster, if the log holds several.", "NAME")]
Branch: TypeAlias = Annotated[str, Field("The branch of the log.", "NAME")]
Namespace: TypeAlias = Annotated[str | None, fields.NAMESPACE]
AllNamespaces: TypeAlias = Annotated[bool, Field("Look in all namespaces.", short="A")]
At: TypeAlias = Annotated[str, fields.AT]
AsKnownAt: TypeAlias = Annotated[
    str | None, Field("Ignore events appended after this position.", "@POSITION")
]
Selector: TypeAlias = Annotated[
    str, Field("Labels, as in app=web,tier in (a,b),!canary.", "SELECTOR", short="l")
]
FieldSelector: TypeAlias = Annotated[
    str,
    Field("Fields, as in spec.nodeName=n1,status.phase!=Running; any field works.", "SELECTOR"),
]
NoHeaders: TypeAlias = Annotated[bool, Field("Leave out the column heads.")]
Plot: TypeAlias = Annotated[bool, fields.PLOT]
STRICT = Field("Fail (exit code 2) if the log does not know all that the command needs.")
Strict: TypeAlias = Annotated[bool, STRICT]
Release: TypeAlias = Annotated[str, fields.RELEASE]
ReleaseOrImage: TypeAlias = Annotated[str | None, fields.RELEASE_OF_IMAGE]
Conf: TypeAlias = Annotated[Path | None, Field("A configuration instead of the log's.", "FILE")]
JOBS = Field("Number of processes; 0 is one per processor.", "N", short="j", least=0)
Assume: TypeAlias = Annotated[bool, fields.ASSUME]


def form(forms: str, wide_adds: str = "") -> Field:
    """Return what ``-o`` takes: output forms, as in ``text|json``; the first is the usual one.

    :param wide_adds: what help says of the wide one.
    """
    choices = tuple(forms.split("|"))
    also = wide_adds and f"; {wide_adds}"
    if "wide" in choices and not also:
        also = _WIDE_TABLE if "table" in choices else _WIDE
    if "sarif" in choices:
        also += "; sarif and junit are for code review and pipelines"
    return Field(f"The output form{also}.", forms, short="o", choices=choices)


_WIDE = "; wide prints all columns in a narrow terminal too"
_WIDE_TABLE = "; wide prints full names of PodGroups, and all columns in a narrow terminal"

TextOrJson: TypeAlias = Annotated[str, form("text|json")]
TextWideOrJson: TypeAlias = Annotated[str, form("text|wide|json")]
