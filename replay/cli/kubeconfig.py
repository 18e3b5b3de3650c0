"""``plinian kubeconfig``: a kubeconfig for a server of the past, with contexts of moments."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from ..questions.fields import Field
from . import options, serving
from .command import command
from .out_files import refuse_form
from .shell import note


@command("kubeconfig")
def kubeconfig(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    points: Annotated[
        tuple[str, ...],
        Field(
            "A moment, which gets its contexts; repeatable. Without any, they are of the moment "
            "that the server serves.",
            "POINT",
            name="at",
        ),
    ] = (),
    server: serving.Server = serving.DEFAULT_SERVER,
    token_file: serving.ItsTokenFile = None,
    out: Annotated[
        Path | None,
        Field(
            "Write to a new file that only its owner can read, in place of standard output.",
            "FILE",
            short="o",
        ),
    ] = None,
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
) -> None:
    """Write a kubeconfig for the Kubernetes API of plinian serve: two contexts for each moment.

    kubectl, k9s and other clients then see the cluster as it was. The context of a moment is named
    LOG@POINT. Another one, LOG@POINT-now, shows its times as if it were now, for clients that count
    ages from their own clock: k9s, kubectl events. ~/.kube/config is never changed: name the file
    with KUBECONFIG or --kubeconfig.
    """
    from ..render.yaml_text import YamlWriter
    from ..server.access_token import token_in
    from ..server.kubernetes.read.kubeconfig import kubeconfig as kubeconfig_of
    from .open_log import opened, without_zone

    if out is not None:
        refuse_form(
            str(out), writes="a kubeconfig", example="plinian kubeconfig -o past.kubeconfig"
        )
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        # An invalid point would otherwise be found only by kubectl.
        for point in points:
            opened_log.moment(point)
        points = tuple(without_zone(opened_log, point) for point in points)
    token = "" if token_file is None else token_in(token_file)
    text = YamlWriter().text(kubeconfig_of(server, log, points, token))
    if out is None:
        sys.stdout.write(text)
        return
    _write(out, text)
    note(f"plinian: try kubectl --kubeconfig {out} get pods -A")


def _write(out: Path, text: str) -> None:
    """Write a new file for its owner alone.

    :raises UsageError: it exists, or cannot be written.
    """
    from ...engine.errors import UsageError

    try:
        # It holds a token, so that no other user may read it, not even while it is written.
        descriptor = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as fault:
        raise UsageError(
            "this file exists already", where=str(out), now="choose another name, or remove it"
        ) from fault
    except OSError as fault:
        raise UsageError(fault.strerror or str(fault), where=str(out)) from fault
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
