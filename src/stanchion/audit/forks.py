"""Forks, under the name by which the runtime knows them."""

from stanchion.locks.forks import forks, tell_of_forks

__all__ = ["forks", "tell_of_forks"]
