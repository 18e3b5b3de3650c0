"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import typer

DEFAULT_LOG = "plinian.db"

Place: TypeAlias = Annotated[
    str,
    typer.Option(
        "--log",
        envvar="PLINIAN_LOG",
        metavar="FILE|URL",
        help="The log: an SQLite file, or a postgresql:// URL.",
    ),
]
Cluster: TypeAlias = Annotated[
    str | None,
    typer.Option("--cluster", metavar="NAME", help="The cluster, if the log holds several."),
]
Branch: TypeAlias = Annotated[
    str, typer.Option("--branch", metavar="NAME", help="The branch of the log.")
]
Namespace: TypeAlias = Annotated[
    str | None,
    typer.Option("--namespace", "-n", metavar="NAME", help="The namespace to look in."),
]
AllNamespaces: TypeAlias = Annotated[
    bool, typer.Option("--all-namespaces", "-A", help="Look in all namespaces.")
]
At: TypeAlias = Annotated[
    str,
    typer.Option(
        "--at",
        metavar="POINT",
        help="The moment: @POSITION, rv:REVISION, an RFC 3339 time, -5m (before the end) or end; "
        "with a branch: what-if@1042.",
    ),
]
AsKnownAt: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--as-known-at",
        metavar="@POSITION",
        help="Ignore events appended after this position.",
    ),
]
Selectors: TypeAlias = Annotated[
    str,
    typer.Option(
        "--selector", "-l", metavar="SELECTOR", help="Labels, as in app=web,tier in (a,b),!canary."
    ),
]
FieldSelectors: TypeAlias = Annotated[
    str,
    typer.Option(
        "--field-selector",
        metavar="SELECTOR",
        help="Fields, as in spec.nodeName=n1,status.phase!=Running; any field works.",
    ),
]
ShowLabels: TypeAlias = Annotated[
    bool, typer.Option("--show-labels", help="Print all labels in a last column.")
]
LabelColumns: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--label-columns", "-L", metavar="LABEL", help="Print columns for these labels; repeatable."
    ),
]
NoHeaders: TypeAlias = Annotated[
    bool, typer.Option("--no-headers", help="Leave out the column heads.")
]
Ignore: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--ignore",
        metavar="PATH",
        help="Leave out changes of this field and of all fields below it (* matches any); "
        "repeatable.",
    ),
]


Strict: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Fail (exit code 2) if the log does not know all that the command needs.",
    ),
]

DEFAULT_RELEASE = "v1.12.1"

Release: TypeAlias = Annotated[
    str, typer.Option("--release", metavar="RELEASE", help="The release of Volcano, as in v1.12.1.")
]


def output_option(forms: str) -> Any:
    """Return the ``-o`` option for these output forms."""
    return typer.Option("--output", "-o", metavar=forms, help="The output form.")


def _known_form(value: str) -> str:
    if value not in ("text", "json"):
        raise typer.BadParameter(f"no output form {value!r}; choose text or json")
    return value


def _table_or_document(value: str) -> str:
    if value not in {"table", "wide", "json", "yaml"}:
        raise typer.BadParameter(f"no output form {value!r}; choose table, wide, json or yaml")
    return value


TableJsonOrYaml: TypeAlias = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="table|wide|json|yaml",
        help="The output form; wide prints full names of PodGroups.",
        callback=_table_or_document,
    ),
]
JsonOrText: TypeAlias = Annotated[
    str,
    typer.Option(
        "--output", "-o", metavar="text|json", help="The output form.", callback=_known_form
    ),
]
Assume: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--assume",
        help="Replace an unknown release by the nearest one, and a configuration that a release "
        "rejects by its built-in one; without this, both are errors.",
    ),
]
