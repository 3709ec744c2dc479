"""Model meets sampler: from data to draws."""

from dpmf.inference.deterministic import ask_for_determinism

ask_for_determinism()  # here, since BlackJAX starts jax when it is imported
