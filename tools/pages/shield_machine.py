"""The picture of the shield's states."""

from tools.drawings.machine import drawn
from tools.drawings.machines import shield_states

PATH = "docs/assets/states-shield.svg"


def render() -> str:
    """The picture as SVG."""
    return drawn(shield_states())
