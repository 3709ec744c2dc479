"""Transition kernels that know nothing of the model."""
