# SPDX-License-Identifier: BSD-3-Clause
"""What a shell is told so that it asks Rondo how a word goes on: click's scripts, but for what these take apart.

Click's completion takes bash's words, which end at `=` and `:`; Rondo's do not. In fish, it cuts words at commas. And
where an option and its value are one word, zsh and fish put the completion in place of both.
"""

from __future__ import annotations

import os
from typing import Any

import click
from click import shell_completion

COMMAND = "rondo"
VARIABLE = "_RONDO_COMPLETE"
BASH = """\
%(complete_func)s() {
    local line=${COMP_LINE:0:COMP_POINT} current=${COMP_WORDS[COMP_CWORD]} type value
    local word=${line##*[[:space:]]}
    COMPREPLY=()
    [[ $current == [=:] ]] && current=
    [[ $word == --*=* ]] && word=${word#*=}
    # Bash puts the completion in place of what it takes for the word, which begins behind = and :.
    local before=${word%%"$current"}
    while IFS=, read -r type value; do
        if [[ $type == plain ]]; then
            COMPREPLY+=("${value#"$before"}")
            [[ $value == *[=:/] ]] && compopt -o nospace
        elif [[ $type == dir ]]; then
            compopt -o dirnames
        elif [[ $type == file ]]; then
            compopt -o default
        fi
    done < <(COMP_WORDS=$line %(complete_var)s=bash_complete "$1" 2>/dev/null)
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""
FISH = """\
function %(complete_func)s
    for completion in (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) COMP_CWORD=(commandline -t) \
%(prog_name)s 2>/dev/null)
        set -l found (string split --max 1 "," -- $completion)
        switch $found[1]
            case dir
                __fish_complete_directories $found[2]
            case file
                __fish_complete_path $found[2]
            case plain
                echo $found[2]
        end
    end
end

complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


class _Bash(shell_completion.BashComplete):
    """Is given the line up to the cursor."""

    source_template = BASH

    def source(self) -> str:
        return self.source_template % self.source_vars()

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_WORDS"]
        words = shell_completion.split_arg_string(line)
        is_begun = line[-1:].strip() != ""
        return (words[1:-1], words[-1]) if is_begun and len(words) > 1 else (words[1:], "")


class _WithOptions:
    """Where a word is --option=value, the whole word is completed."""

    def get_completions(self, args: list[str], incomplete: str) -> list[Any]:
        found: list[Any] = super().get_completions(args, incomplete)  # type: ignore[misc]
        option, equals, _ = incomplete.partition("=")
        if not equals or not option.startswith("--") or "--" in args:
            return found
        item = shell_completion.CompletionItem
        return [item(f"{option}={each.value}", each.type, each.help) for each in found]


class _Zsh(_WithOptions, shell_completion.ZshComplete):
    pass


class _Fish(_WithOptions, shell_completion.FishComplete):
    source_template = FISH


SHELLS = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}
FILES = {
    "bash": "share/bash-completion/completions/rondo",
    "zsh": "share/zsh/site-functions/_rondo",
    "fish": "share/fish/vendor_completions.d/rondo.fish",
}
"""Where each shell looks for it, below a prefix."""


def register() -> None:
    """Makes click complete by the classes here."""
    for name, each in SHELLS.items():
        shell_completion.add_completion_class(each, name)


def text(shell: str, command: click.Command) -> str:
    """The script for a shell."""
    return SHELLS[shell](command, {}, COMMAND, VARIABLE).source()
