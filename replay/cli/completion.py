"""``plinian completion``: scripts for shells, and what they ask while a person types."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Annotated, Any

import typer

from .shell import guarded

BASH = """\
_plinian() {
    local IFS=$'\\n'
    COMPREPLY=($(plinian __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    [[ ${COMPREPLY[0]} == */ || ${COMPREPLY[0]} == *= ]] && compopt -o nospace
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


@guarded
def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    r"""Print a completion script for a shell.

    It completes commands, options and their values: kinds, and the names of objects, namespaces
    and branches in the log; forms of output, releases, rules, kinds of events.

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
    answer(ctx.find_root().command, words)


def answer(root: Any, words: Sequence[str]) -> None:
    """Print what may stand in the place of the last word, one a line; nothing on any trouble.

    :param root: all commands, as click has them.
    """
    from ..render.screen import is_plain
    from .completing import candidates_of

    with suppress(BrokenPipeError):
        found = candidates_of(root, words or [""])
        # A name that would be spelled is none that a shell could give back.
        sys.stdout.writelines(f"{text}\n" for text in found if is_plain(text))
        sys.stdout.flush()
