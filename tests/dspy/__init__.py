"""Compiling with DSPy itself. It runs where DSPy is installed: `make test-dspy` makes such an
environment."""
