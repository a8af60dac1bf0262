"""What the tests of the trail share."""

from tests.audit.disks import disk

__all__ = ["disk"]
