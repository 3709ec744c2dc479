"""The model as pure functions of a whitened state."""
