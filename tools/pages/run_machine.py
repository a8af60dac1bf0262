"""The picture of the states of a run."""

from tools.drawings.machine import drawn
from tools.drawings.machines import run

PATH = "docs/assets/states-run.svg"


def render() -> str:
    """The picture as SVG."""
    return drawn(run())
