"""The picture of the states of a ticket."""

from tools.drawings.machine import drawn
from tools.drawings.machines import ticket

PATH = "docs/assets/states-ticket.svg"


def render() -> str:
    """The picture as SVG."""
    return drawn(ticket())
