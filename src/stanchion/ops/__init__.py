"""What operators see and run: views of what was decided, telemetry, the broker, and the demo."""
