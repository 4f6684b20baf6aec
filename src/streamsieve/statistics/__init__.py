"""Statistics that merge, and what is computed from them: once, for all methods."""
