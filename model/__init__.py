"""The reference model: slow, obvious, sequential code over full history, that the engine and stores
are held to."""
