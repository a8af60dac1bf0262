"""What operators see and run: views of what was decided, the broker, and the demo."""
