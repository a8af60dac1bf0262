"""Rules of policies, told shortly."""

from typing import Any


def rule(name: str, stage: str, **says: Any) -> dict[str, Any]:
    """The entry of a rule at one stage: `when` it holds and its `action`, or whatever else it
    says."""
    return {"id": name, "use": "rule", "stages": [stage], **says}
