"""Prose: what sentences ask for, which values stand in them, and what the words of a language have
to do with each other."""

from __future__ import annotations
