"""Files: paths in calls and commands, judged by where they lead and what is done with them."""

from __future__ import annotations

from stanchion.guards.files.codes import CODES
from stanchion.guards.files.guard import Files

__all__ = ["CODES", "Files"]
