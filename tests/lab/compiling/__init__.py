"""The offline compiler. What needs DSPy itself is in `tests/dspy`."""
