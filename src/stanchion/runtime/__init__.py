"""The runtime: what stands between an agent and everything it touches. `docs/glossary.md` has its
words, those that only code uses among them."""
