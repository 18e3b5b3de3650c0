"""``plinian completion``: scripts for shells, and the candidates that they query."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Annotated, Any

import click

from ..questions.fields import Field
from .command import command

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


@command("completion")
def completion(
    shell: Annotated[str, Field("bash, zsh or fish.", "SHELL")],
) -> None:
    r"""Print a completion script for a shell.

    It completes commands, options and their values: kinds, names of objects, namespaces and
    branches in the log; output forms, releases, rules, kinds of events.

    \b
    bash:  source <(plinian completion bash)
    zsh:   plinian completion zsh > "${fpath[1]}/_plinian"
    fish:  plinian completion fish > ~/.config/fish/completions/plinian.fish
    """
    from ...engine.errors import UsageError

    if shell not in SCRIPTS:
        raise UsageError(f"no script for {shell!r}", now="choose bash, zsh or fish")
    sys.stdout.write(SCRIPTS[shell])


@command("__complete", hidden=True)
def candidates(words: Annotated[tuple[str, ...], Field("The words typed so far.")]) -> None:
    """Print the candidates for the last word, one per line."""
    answer(click.get_current_context().find_root().command, words)


def answer(root: Any, words: Sequence[str]) -> None:
    """Print the candidates for the last word, one per line; nothing on any error.

    :param root: all commands, as click has them.
    """
    from ..render.screen import is_plain
    from .completion_candidates import candidates_of

    with suppress(BrokenPipeError):
        texts = candidates_of(root, words or [""])
        # A shell could not pass back a name that has to be escaped.
        sys.stdout.writelines(f"{text}\n" for text in texts if is_plain(text))
        sys.stdout.flush()
