"""The picture of the states of a breaker."""

from tools.drawings.machine import drawn
from tools.drawings.machines import breaker

PATH = "docs/assets/states-breaker.svg"


def render() -> str:
    """The picture as SVG."""
    return drawn(breaker())
