"""A result that was changed, for a host whose results hold more than what is judged."""

from __future__ import annotations

from typing import Any

import msgspec


class Changed(msgspec.Struct, frozen=True):
    """What the agent may see of a call: `content` in the place of what the host's `shown` gave.

    `result` is the host's own result, and `None` where the call was not run because it had been
    done before. `about` is whatever the host handed in with the call.
    """

    content: Any
    result: Any = None
    about: Any = None
