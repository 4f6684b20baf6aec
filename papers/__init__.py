"""The papers' experiments beside their published numbers, run from a checkout: `python -m papers NAME`.

- ``experiments/NAME.py``: the jobs of an experiment, what one job measures, and the report;
- ``published/``: the papers' own numbers; ``causes.toml``: why ours are worse where they are;
- ``baselines.py``, ``tuning.py``, ``data.py``, ``timing.py``: what the experiments measure with;
- ``run.py``: runs jobs (``workers.py``) and stores their outcomes (``store.py``); ``check.py``: computes a
  sample of the stored ones again; ``report/``: the pages.
"""
