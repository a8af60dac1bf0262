"""What the Tutor is handed: files of games and rules, and commands that really run, confined."""

from __future__ import annotations

from stanchion.tutor.playing.published import make_tutor

__all__ = ["make_tutor"]
