"""The verifier of trails: it shares their format with the writer, and no code.

This folder needs nothing but Python's standard library. Copied anywhere, alone, it runs: `python
verifying FOLDER`.
"""
