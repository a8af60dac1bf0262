"""What a hostile program reaches behind each kind of walls, as it was found and is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from stanchion.runtime.sandbox.sandbox import WallKind

ROOT: Final = Path(__file__).resolve().parents[3]
KEPT: Final = Path(__file__).with_name("found.json")
WHO: Final = {"root": 0, "user": 23_456}
APART: Final = ["unshare", "--net", "--uts", "--ipc"]

Found = dict[str, dict[str, list[str]]]
"""By kind of walls and by who starts the run: what the program gets."""


def kept() -> Found:
    """What is kept."""
    found: Found = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def reached(kind: WallKind, who: str) -> tuple[list[str], dict[str, Any]]:
    """What a hostile program gets now, and what there is to say of the run as a whole."""
    words = [*APART, sys.executable, "-m", "tests.runtime.contained.outside", kind, str(WHO[who])]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(("[", "{"))]
    assert lines, done.stderr
    return [name for _, name, got in lines[:-1] if got], {**lines[-1], "tried": len(lines) - 1}


def main() -> None:
    """Find everything anew, and keep it."""
    found = {kind: {who: reached(kind, who)[0] for who in WHO} for kind in WallKind}
    KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
