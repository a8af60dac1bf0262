"""Loosening: everything by which one policy may let something through that another would not."""

from stanchion.policy.loosening.compare import loosenings
from stanchion.policy.loosening.directions import Loosening

__all__ = ["Loosening", "loosenings"]
