"""Loosening: everything by which one policy may let something through that another would not."""

from stanchion.policy.loosening.directions import Loosening
from stanchion.policy.loosening.tables import loosenings

__all__ = ["Loosening", "loosenings"]
