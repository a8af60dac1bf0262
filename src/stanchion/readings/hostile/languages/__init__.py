"""What is known of languages: their words of effect and the phrases by which texts address an
agent, as data."""

from __future__ import annotations
