"""``plinian completion``: scripts for shells, and what they ask while a person types."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .shell import guarded

if TYPE_CHECKING:
    from collections.abc import Iterable

BASH = """\
_plinian() {
    local IFS=$'\\n'
    COMPREPLY=($(plinian __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    [[ ${COMPREPLY[0]} == */ ]] && compopt -o nospace
}
complete -o default -F _plinian plinian
"""

ZSH = """\
#compdef plinian
_plinian() {
    local -a found
    found=("${(@f)$(plinian __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n ${found[1]} ]]; then compadd -a found; else _files; fi
}
if [[ $funcstack[1] == _plinian ]]; then _plinian "$@"; else compdef _plinian plinian; fi
"""

FISH = """\
function __plinian_complete
    set -l words (commandline -opc) (commandline -ct)
    plinian __complete -- $words[2..-1] 2>/dev/null
end
complete -c plinian -a '(__plinian_complete)'
"""

SCRIPTS: Mapping[str, str] = MappingProxyType({"bash": BASH, "zsh": ZSH, "fish": FISH})

_TAKE_OBJECTS = frozenset({"get", "describe", "history"})
_TAKE_POINTS = frozenset({"--at", "--since", "--until"})
_TAKE_RELEASES = frozenset({"--release", "--releases"})
_NAMES_SHOWN = 500


@guarded
def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    r"""Print a completion script for a shell.

    It completes commands, options, kinds, releases, and the names of objects in the log.

    \b
    bash:  source <(plinian completion bash)
    zsh:   plinian completion zsh > "${fpath[1]}/_plinian"
    fish:  plinian completion fish > ~/.config/fish/completions/plinian.fish
    """
    from ...engine.errors import UsageError

    if shell not in SCRIPTS:
        raise UsageError(f"there is no script for {shell!r}", now="choose bash, zsh or fish")
    sys.stdout.write(SCRIPTS[shell])


@guarded
def candidates(
    ctx: typer.Context,
    words: Annotated[list[str], typer.Argument(help="The words typed so far.")],
) -> None:
    """Print what may stand in the place of the last word, one a line."""
    root = ctx.find_root().command
    for candidate in _candidates(root, words):
        sys.stdout.write(f"{candidate}\n")


def _candidates(root: Any, words: Sequence[str]) -> list[str]:
    typed = words[-1]
    command, path, rest = root, [], list(words[:-1])
    while rest and hasattr(command, "commands") and rest[0] in command.commands:
        command = command.commands[rest[0]]
        path.append(rest.pop(0))
    if hasattr(command, "commands"):
        found = [name for name, one in command.commands.items() if not one.hidden]
    elif typed.startswith("-"):
        found = [name for item in command.params for name in item.opts if name.startswith("-")]
    elif _takes_release(path, rest):
        found = _releases(typed)
    elif rest and rest[-1] in _TAKE_POINTS:
        found = ["end"]
    elif path and path[0] in _TAKE_OBJECTS and not (rest and rest[-1].startswith("-")):
        found = list(_objects(rest, typed))
    else:
        found = []
    return sorted({name for name in found if name.startswith(typed)})


def _takes_release(path: Sequence[str], rest: Sequence[str]) -> bool:
    """Say whether a release is to be named next."""
    option = rest[-1] if rest else ""
    if path == ["upgrade-check"]:
        return option in {"--from", "--to"}
    if path in (["release", "show"], ["release", "diff"]):
        return not option.startswith("-")
    return option in _TAKE_RELEASES


def _releases(typed: str) -> list[str]:
    """Return the names of releases, also as the end of a span ``R1..R2``."""
    from ...engine.volcano.releases import RELEASES

    before, dots, _ = typed.rpartition("..")
    return [f"{before}{dots}{release}" for release in RELEASES]


def _objects(rest: Sequence[str], typed: str) -> Iterable[str]:
    """Return kinds for the first word, and names of the log's objects after a kind."""
    from ..kinds import names_for_completion

    kind, slash, _ = typed.partition("/")
    plain = [word for word in rest if not word.startswith("-")]
    if slash:
        return [f"{kind}/{name}" for name in _names(kind, rest)]
    if plain:
        return _names(plain[0], rest)
    before, comma, _ = typed.rpartition(",")
    return [f"{before}{comma}{name}" for name in names_for_completion()]


def _names(kind: str, words: Sequence[str]) -> list[str]:
    """Return names of objects of a kind in the log that the words name, or none on any trouble."""
    from itertools import pairwise
    from os import environ

    from ...engine.errors import PlinianError
    from .opening import opened
    from .options import DEFAULT_LOG

    given = dict(pairwise(words))
    place = given.get("--log") or environ.get("PLINIAN_LOG") or DEFAULT_LOG
    namespace = given.get("-n") or given.get("--namespace")
    everywhere = "-A" in words or "--all-namespaces" in words
    try:
        with opened(place, read_only=True) as log:
            entries = log.entries(
                kind,
                at=given.get("--at", "end"),
                namespace=None if everywhere else namespace or "default",
            )
    except (PlinianError, OSError):
        return []
    return [entry.reference.name for entry in entries[:_NAMES_SHOWN]]
