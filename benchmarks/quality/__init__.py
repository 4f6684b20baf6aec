"""What a user gets by default, beside what they would have used instead: the parts of `bench_quality.py`.

`datasets` has the data, `peers` and `ours` the methods, `cells` runs and caches one fit, `table` answers.
"""
