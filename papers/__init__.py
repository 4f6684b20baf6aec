"""The papers' experiments beside their published numbers, run from a checkout: `python -m papers NAME`.

- ``experiments/NAME.py``: the jobs of an experiment, what one job measures, and the report;
- ``published/``: the papers' own numbers; ``causes.py``: why ours are worse where they are;
- ``baselines.py``, ``tuning.py``, ``data.py``, ``timing.py``: what the experiments measure with;
- ``run.py``: runs jobs (``workers.py``), stores their outcomes (``store.py``) with the version of the code
  that made them (``versions.py``), and writes the report (``report/``).
"""
