"""What a host is told about an event that it has reported."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.kernel.decision import Decision


class Told(msgspec.Struct, frozen=True):
    """Whether something goes ahead, and with what.

    Where it does, `content` is what goes on: the host's own where nobody changed it. Where it does
    not, `answer` is what the host's words made of the refusal. Of a failure `content` is the text
    that the agent may read; it goes ahead unless the run ends, and `again` says that the failed
    action is to be run once more.
    """

    decision: Decision
    proceeds: bool
    content: Any = None
    answer: Any = None
    again: bool = False
