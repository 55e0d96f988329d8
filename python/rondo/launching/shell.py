# SPDX-License-Identifier: BSD-3-Clause
"""Which programs a shell starts, read off plain text: commands in a row, without conditions and loops."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from rondo.launching.wrappers import ASSIGNMENT, Start, options

SHELLS = ("sh", "bash", "dash", "ksh", "zsh")
CONTROL = ";&|<>()\n"
KEYWORDS = {
    *("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function"),
    *("{", "}", "[[", "((", "eval", "trap", "coproc"),
}
STARTS_NOTHING = {
    *(":", "[", "alias", "echo", "exit", "false", "local", "module", "printf", "pwd", "read", "readonly", "return"),
    *("set", "shopt", "sleep", "source", ".", "test", "true", "type", "ulimit", "umask", "unalias", "wait"),
}


class UnreadableError(Exception):
    """Says why nobody can read off the text which programs are started."""


def text_of(start: Start) -> tuple[str, list[str]] | None:
    """What a shell that is started runs, and the arguments that it has; None if that is no text, or no file of text."""
    found, first = options(start.words, ("o", "O", "rcfile", "init-file"))
    rest = start.words[first:]
    if not rest:
        return None
    if any(name == "c" for name, _ in found):
        return rest[0], rest[2:]
    path = Path(start.directory or ".") / rest[0]
    return (path.read_text(errors="replace"), rest[1:]) if path.is_file() else None


def programs(text: str, arguments: list[str], start: Start) -> Iterator[Start]:
    """The programs that a text starts when a shell runs it with these arguments. UnreadableError if it is not plain."""
    reader = _Reader(arguments, start)
    for command in _commands(text):
        found = reader.run(command)
        if found is not None:
            yield found


def _commands(text: str) -> Iterator[list[str]]:
    """The words of each command, quotes and redirections removed."""
    text = "\n".join(map(_without_comment, text.replace("\\\n", " ").split("\n")))
    lexer = shlex.shlex(text, posix=True, punctuation_chars=CONTROL)
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    try:
        words = list(lexer)
    except ValueError as error:
        raise UnreadableError(str(error).lower()) from None
    command: list[str] = []
    redirects = False
    for word in words:
        control = word.replace("\n", "") if word and not set(word) - set(CONTROL) else None
        if control is None:
            command += [] if redirects else [word]
            redirects = False
        elif control in ("", ";", "&", "&&", "|", "||"):
            yield command
            command = []
        elif ("<" in control or ">" in control) and "<<" not in control and not set(control) & set("()"):
            redirects = True
            if command and command[-1].isdigit():  # 2>&1
                command.pop()
        else:
            raise UnreadableError(f"it has '{control}'")
    yield command


def _without_comment(line: str) -> str:
    for match in re.finditer(r"(?:^|(?<=[\s;]))#", line):
        before = line[: match.start()]
        if before.count("'") % 2 == 0 and before.count('"') % 2 == 0:
            return before
    return line


class _Reader:
    """Runs commands in thought: what they do to variables, the directory and the arguments."""

    def __init__(self, arguments: list[str], start: Start) -> None:
        self.arguments = arguments
        self.start = start
        self.variables: dict[str, str] = {}

    def run(self, command: list[str]) -> Start | None:
        """The program that a command starts; None for a command of the shell's own."""
        own = self.start
        while command and (assignment := ASSIGNMENT.match(command[0])):
            name, value = assignment[1], self._expanded(assignment[2])
            own = own.with_variable(name, value, command[0])
            if len(command) == 1:  # a variable of the shell; of programs only if it was one before
                self.variables[name] = value
                self.start = own if name in self.start.environment else self.start
            command = command[1:]
        while command and command[0] in ("exec", "command", "time", "!"):
            command = command[2 if command[1:2] == ["-p"] else 1 :]
        words = [word for each in command for word in self._words(each)]
        if not words or words[0] in STARTS_NOTHING or self._changes(words, command):
            return None
        if words[0] in KEYWORDS or re.search(r"[$`*?\[]", words[0]) or words[0].startswith("-"):
            raise UnreadableError(f"it has '{shlex.join(command)[:60]}'")
        return own.after(words)

    def _changes(self, words: list[str], written: list[str]) -> bool:
        """Whether a command changes the shell alone; does so."""
        name, rest = words[0], words[1:]
        if name == "cd" and rest:
            self.start = self.start.inside(rest[0])
        elif name == "shift":
            self.arguments = self.arguments[int(rest[0]) if rest and rest[0].isdigit() else 1 :]
        elif name == "export":
            for word, raw in zip(rest, written[1:], strict=False):
                variable, equals, value = word.partition("=")
                if equals or variable in self.variables:
                    value = value if equals else self.variables[variable]
                    self.variables[variable] = value
                    self.start = self.start.with_variable(variable, value, f"export {raw}")
        elif name == "unset":
            for variable in rest:
                self.start = self.start.without_variable(variable, f"unset {variable}")
        else:
            return name in ("cd", "export", "unset")
        return True

    def _words(self, word: str) -> list[str]:
        return self.arguments if word in ("$@", "${@}", "$*") else [self._expanded(word)]

    def _expanded(self, word: str) -> str:
        """The word with the values of variables and arguments that are known."""

        def value(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            if name.isdigit():
                return self.arguments[int(name) - 1] if 0 < int(name) <= len(self.arguments) else match[0]
            return self.variables.get(name, self.start.environment.get(name, match[0]))

        return re.sub(r"\$(?:\{(\w+)\}|([A-Za-z_]\w*|\d))", value, word)
