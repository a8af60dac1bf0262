"""PenguiFlow policy packs, read as policies."""
