"""Model meets sampler: from data to draws."""
