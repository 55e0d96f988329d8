# SPDX-License-Identifier: BSD-3-Clause
"""Call sites by name: function, file and line, by the debug information of what is on this machine."""

from __future__ import annotations

import mmap
import shutil
import struct
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from rondo.profiling import image, profile

TOOLS = ("addr2line", "llvm-addr2line", "eu-addr2line")
"""Of GNU binutils, LLVM and elfutils; they have the same options and output."""
SECONDS = 120
UNKNOWN = "??"
SYMBOL_TABLE = 2
"""SHT_SYMTAB, the type of the section of an ELF file that `strip` takes away."""
AT_ONCE = 500


def resolve(sites: Sequence[image.Site], missing: list[str]) -> list[profile.Site]:
    """The sites with what can be known of them. `missing` gets a sentence about what cannot."""
    modules: dict[tuple[str, str], list[int]] = defaultdict(list)
    for site in sites:
        if site.module:
            modules[site.module, site.build_id].append(site.offset)
    tool = next((found for found in map(shutil.which, TOOLS) if found), None)
    if tool is None and modules:
        missing.append(f"call sites have no line: none of {', '.join(TOOLS)} is on this machine")
    places = {
        module: _places(tool, Path(module[0]), offsets)
        for module, offsets in modules.items()
        if tool is not None and _is_the_same(Path(module[0]), module[1], missing)
    }
    without = sorted(
        Path(module[0]).name
        for module, known in places.items()
        if known and not any(file for _, file, _ in known.values())
        if any(not site.frames for site in sites if (site.module, site.build_id) == module)
    )
    if without:
        names = ", ".join(without)
        missing.append(f"call sites in {names} have no line: no debug information, which compilers write with -g")
    return [_resolved(site, places.get((site.module, site.build_id), {})) for site in sites]


def _resolved(site: image.Site, places: Mapping[int, tuple[str, str, int]]) -> profile.Site:
    function, file, line = places.get(site.offset, ("", "", 0))
    return profile.Site(
        function=function or site.symbol,
        file=_shown(file),
        line=line,
        module=Path(site.module).name,
        offset=site.offset,
        frames=[_shown(frame) for frame in site.frames],
    )


def _shown(path: str) -> str:
    """A path, or what begins with one, without the working directory."""
    return path.removeprefix(f"{Path.cwd()}/")


def _is_the_same(path: Path, build_id: str, missing: list[str]) -> bool:
    """Whether the file is what ran: debug information of another build would name wrong lines."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if not build_id or content.find(bytes.fromhex(build_id)) >= 0:
                return True
    except (OSError, ValueError):
        missing.append(f"call sites in {path.name} have no line: there is no {path} on this machine")
        return False
    missing.append(f"call sites in {path.name} have no line: {path} has been built again since")
    return False


def _places(tool: str, path: Path, offsets: Sequence[int]) -> dict[int, tuple[str, str, int]]:
    """Function, file and line of each return address; what is not known is empty."""
    found = {}
    names_are_near = _has_symbol_table(path)
    for first in range(0, len(offsets), AT_ONCE):
        some = offsets[first : first + AT_ONCE]
        # The call is before the address to which it returns.
        command = [tool, "-f", "-C", "-e", str(path), *(hex(offset - 1) for offset in some)]
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return found
        lines = result.stdout.splitlines()
        for offset, function, place in zip(some, lines[::2], lines[1::2], strict=False):
            name, file, line = _place(function, place)
            # Of a stripped module the tools name whatever it exports before the address, however far away.
            found[offset] = (name if file or names_are_near else "", file, line)
    return found


def _has_symbol_table(path: Path) -> bool:
    """Whether a module knows its functions, also those that it does not export."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            byte_order = "<" if content[5] == 1 else ">"
            (first,) = struct.unpack_from(f"{byte_order}Q", content, 40)
            size, number = struct.unpack_from(f"{byte_order}HH", content, 58)
            types = [
                struct.unpack_from(f"{byte_order}I", content, first + each * size + 4)[0] for each in range(number)
            ]
    except (OSError, ValueError, IndexError, struct.error):
        return False
    return SYMBOL_TABLE in types


def _place(function: str, place: str) -> tuple[str, str, int]:
    # "/home/me/app.c:12 (discriminator 3)", "/home/me/app.c:?", "??:0"
    file, _, line = place.partition(" (")[0].rpartition(":")
    number = int(line) if line.isdigit() else 0
    if not file or file == UNKNOWN or number == 0:
        file, number = "", 0
    return ("" if function == UNKNOWN else function), file, number
