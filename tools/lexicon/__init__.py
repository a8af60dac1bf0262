"""The lexicon of the prose readings, built from WordNet."""
