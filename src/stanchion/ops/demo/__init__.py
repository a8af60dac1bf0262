"""The demo: a scripted agent walks into hazards, and a real shield judges each step."""
