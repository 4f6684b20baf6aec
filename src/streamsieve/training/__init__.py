"""Runs: one loop that reads, tests, learns, measures, checkpoints and resumes."""
