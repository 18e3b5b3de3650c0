"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ..questions.defaults import DEFAULT_RELEASE

DEFAULT_LOG = "plinian.db"
END = "end"
"""The point after the last event."""

log = click.option(
    "--log",
    envvar="PLINIAN_LOG",
    show_envvar=True,
    metavar="FILE|URL",
    help="The log: an SQLite file, or a postgresql:// URL.",
    default=DEFAULT_LOG,
    show_default=True,
)
inputs = click.option(
    "--input",
    "-i",
    "inputs",
    multiple=True,
    metavar="PATH",
    help="Answer from this file, folder or archive instead of a log, as from the output of "
    "kubectl get; repeatable.",
)
cluster = click.option("--cluster", metavar="NAME", help="The cluster, if the log holds several.")
branch = click.option(
    "--branch", metavar="NAME", help="The branch of the log.", default="main", show_default=True
)
namespace = click.option("--namespace", "-n", metavar="NAME", help="The namespace to look in.")
all_namespaces = click.option(
    "--all-namespaces", "-A", help="Look in all namespaces.", is_flag=True
)
at = click.option(
    "--at",
    metavar="POINT",
    help="The moment: @POSITION, rv:REVISION, an RFC 3339 time, -5m (before the end), session:N or "
    "end; with a branch: what-if@1042.",
    default=END,
    show_default=True,
)
as_known_at = click.option(
    "--as-known-at", metavar="@POSITION", help="Ignore events appended after this position."
)
selector = click.option(
    "--selector",
    "-l",
    metavar="SELECTOR",
    help="Labels, as in app=web,tier in (a,b),!canary.",
    default="",
)
field_selector = click.option(
    "--field-selector",
    metavar="SELECTOR",
    help="Fields, as in spec.nodeName=n1,status.phase!=Running; any field works.",
    default="",
)
show_labels = click.option("--show-labels", help="Print all labels in a last column.", is_flag=True)
label_columns = click.option(
    "--label-columns",
    "-L",
    metavar="LABEL",
    help="Print columns for these labels; repeatable.",
    multiple=True,
)
no_headers = click.option("--no-headers", help="Leave out the column heads.", is_flag=True)
plot = click.option(
    "--plot", help="Also draw it over time, in characters; only below text.", is_flag=True
)
strict = click.option(
    "--strict",
    help="Fail (exit code 2) if the log does not know all that the command needs.",
    is_flag=True,
)

release = click.option(
    "--release",
    metavar="RELEASE",
    help="The release of Volcano, as in v1.12.1.",
    default=DEFAULT_RELEASE,
    show_default=True,
)

release_or_image = click.option(
    "--release",
    metavar="RELEASE",
    help="The release of Volcano, as in v1.12.1. By default that of the image of the scheduler's "
    f"pods, if the log has them, else {DEFAULT_RELEASE}.",
)


def conf_with(text: str) -> Callable[[Any], Any]:
    """Return the ``--conf`` option with this help."""
    return click.option("--conf", type=click.Path(path_type=Path), metavar="FILE", help=text)


conf = conf_with("A configuration instead of the log's.")
jobs = click.option(
    "--jobs",
    "-j",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    metavar="N",
    help="Number of processes; 0 is one per processor.",
)


def output(forms: str, *, default: str = "") -> Callable[[Any], Any]:
    """Return the ``-o`` option for these output forms."""
    return click.option(
        "--output",
        "-o",
        metavar=forms,
        default=default,
        show_default=bool(default),
        help="The output form.",
    )


def form(forms: str, wide_adds: str = "") -> Callable[[Any], Any]:
    """Return an ``-o`` option with output forms, as in ``text|json``; the first is the default.

    Another one is an error that lists them. :param wide_adds: what help says of the wide one.
    """
    some = forms.split("|")

    def checked(_ctx: click.Context, _option: click.Parameter, value: str) -> str:
        if value not in some:
            raise click.BadParameter(
                f"no output form {value!r}; choose {', '.join(some[:-1])} or {some[-1]}"
            )
        return value

    also = wide_adds and f"; {wide_adds}"
    if "wide" in some and not also:
        also = _WIDE_TABLE if "table" in some else _WIDE
    if "sarif" in some:
        also += "; sarif and junit are for code review and pipelines"
    return click.option(
        "--output",
        "-o",
        metavar=forms,
        help=f"The output form{also}.",
        callback=checked,
        default=some[0],
        show_default=True,
    )


_WIDE = "; wide prints all columns in a narrow terminal too"
_WIDE_TABLE = "; wide prints full names of PodGroups, and all columns in a narrow terminal"

table_json_or_yaml = form("table|wide|json|yaml")
text_or_json = form("text|json")
text_wide_or_json = form("text|wide|json")
assume = click.option(
    "--assume",
    help="Replace an unknown release by the nearest one, and a configuration that a release "
    "rejects by its built-in one; without this, both are errors.",
    is_flag=True,
)
