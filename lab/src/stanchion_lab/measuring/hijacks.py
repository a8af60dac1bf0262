"""What measurements of hijacks have in common: the policy that is measured."""

from __future__ import annotations

from typing import Any, Final

POLICY: Final[dict[str, Any]] = {
    "name": "hijacks",
    "extends": "default",
    "guards": [{"use": "flow"}],
}
"""The `default` pack with the guard that knows where values come from."""
