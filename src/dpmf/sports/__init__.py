"""The one place that knows what a game is."""
