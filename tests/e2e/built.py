"""Both wheels, built from the checkout."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACES = {"stanchion": ROOT, "stanchion_lab": ROOT / "lab"}
"""Where each package is built."""
STEMS = {"stanchion": "stanchion_guard", "stanchion_lab": "stanchion_lab"}
"""How the files of its distribution begin: its name is not the package's."""


def built_in(folder: Path) -> dict[str, Path]:
    """Build them in a folder."""
    built = {}
    for name, place in PLACES.items():
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=place, check=True, capture_output=True)
        (built[name],) = folder.glob(f"{STEMS[name]}-*.whl")
    return built
