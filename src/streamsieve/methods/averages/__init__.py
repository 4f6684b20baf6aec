"""Models from running averages, one file each."""
