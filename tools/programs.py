"""Gather programs and their options for fresh rows: names from Debian's index of contents, options
from help texts.

    python -m tools.programs Contents-amd64.gz

The index is a file of every Debian mirror (`dists/STABLE/main/Contents-amd64.gz`). Help texts are
those of the programs that are installed here; they are asked as a user without rights, in an empty
folder.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

OUT: Final = Path(__file__).resolve().parents[1] / "lab/src/stanchion_lab/fresh/programs.jsonl"
KEEP: Final = 1500
"""How many programs of Debian are kept that are not installed: every so many, by name."""

MOST: Final = 24
"""How many options of a program are kept."""

NAME: Final = re.compile(r"[a-z][a-z0-9+_-]{1,20}")
OPTION: Final = re.compile(
    r"^\s{1,12}(?:-\w,? +)?(--[a-z][a-z-]+)(?:(\[?[= "
    r"])[<\[]?([A-Za-z][A-Za-z_-]*)[>\]]*)?(?:\s{2,}(.*))?$"
)
RUNS: Final = re.compile(r"(?i)^(command|cmd|program|prog|shell|command-line)$")
UNSAFE: Final = re.compile(
    r"(?i)delet|remov|overwrit|kill|wip|eras|destroy|force|exec|command|shell|program|install|"
    r"secret|passw|key|root|"
    r"truncat|unlink|purge|clean|reset|user|host|server|url|remote|connect|device|mount|privilege|"
    r"daemon|signal|output|"
    r"\bfile\b.*writ|write|in-place|upload|eval|script|hook|link|recurs"
)
NEVER: Final = re.compile(
    r"^(halt|reboot|poweroff|shutdown|init|telinit|reset|clear|pkill|killall|kill|skill|snice|"
    r"systemd.*|dbus.*)$"
)


def main(contents: Path) -> int:
    """Write the file of programs."""
    sections = dict(_indexed(contents))
    here = sorted({file.name for file in Path("/usr/bin").iterdir() if NAME.fullmatch(file.name)})
    asked = [_asked(name, sections.get(name, "")) for name in here if not NEVER.match(name)]
    known = [row for row in asked if row is not None]
    others = sorted(set(sections) - set(here))
    plain = [
        {"name": name, "section": sections[name]} for name in others[:: max(1, len(others) // KEEP)]
    ]
    lines = [json.dumps(row, ensure_ascii=False) for row in [*known, *plain]]
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(known)} programs with options, {len(plain)} names")
    return 0


def _indexed(contents: Path) -> Iterator[tuple[str, str]]:
    """Names of programs, each with the section of Debian that it is in."""
    with gzip.open(contents, "rt", encoding="utf-8") as lines:
        for line in lines:
            path, _, packages = line.rstrip().rpartition(" ")
            folder, _, name = path.strip().rpartition("/")
            if folder in ("usr/bin", "bin", "usr/games") and NAME.fullmatch(name):
                yield name, packages.partition(",")[0].rpartition("/")[0].rpartition("/")[2]


def _asked(name: str, section: str) -> dict[str, Any] | None:
    """A program's options by its help: those that run a command, plain switches, and those that
    take a number."""
    runs, flags, numbers = [], [], []
    for line in _help(name).splitlines():
        found = OPTION.match(line)
        if found is None:
            continue
        option, _, value, said = found.groups()
        if value is not None and RUNS.match(value):
            runs.append(option)
        elif UNSAFE.search(f"{option} {said or ''}"):
            continue
        elif value is None:
            flags.append(option)
        elif value.upper() in (
            "N",
            "NUM",
            "NUMBER",
            "COUNT",
            "LINES",
            "WIDTH",
            "COLS",
            "SIZE",
            "BYTES",
        ):
            numbers.append(option)
    if not (runs or flags or numbers):
        return None
    parts = {"runs": runs, "flags": flags, "numbers": numbers}
    return {
        "name": name,
        "section": section,
        **{key: _few(found) for key, found in parts.items() if found},
    }


def _few(options: list[str]) -> list[str]:
    return list(dict.fromkeys(options))[:MOST]


def _help(name: str) -> str:
    own = (
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        env = {
            "PATH": "/usr/bin:/bin",
            "HOME": folder,
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "COLUMNS": "200",
        }
        program = shutil.which(name, path="/usr/bin")
        command = [*own, str(program), "--help"]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=4,
                check=False,
            )
        except (subprocess.TimeoutExpired, OSError):
            return ""
    return (done.stdout + done.stderr).decode("utf-8", "replace")[:60_000]


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
