"""Both wheels, built from the checkout."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACES = {"stanchion": ROOT, "stanchion_lab": ROOT / "lab"}


def built_in(folder: Path) -> dict[str, Path]:
    """Build them in a folder."""
    built = {}
    for name, place in PLACES.items():
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=place, check=True, capture_output=True)
        (built[name],) = folder.glob(f"{name}-*.whl")
    return built
