"""Extractors: functions from running averages to a linear model, one file each."""
