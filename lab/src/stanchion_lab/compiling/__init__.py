"""The offline compiler: what a player is told, chosen with DSPy by what the Tutor makes of it, and
frozen."""
