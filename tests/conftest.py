"""What all tests share: one Hypothesis profile, and where the papers' data are."""

import os
from pathlib import Path

from hypothesis import settings

# No deadlines: on a busy machine they measure the machine.
settings.register_profile("streamsieve", deadline=None)
settings.load_profile("streamsieve")

# Beside the repository, also when it is the installed package that is tested.
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
if DATA.is_dir():
    os.environ.setdefault("STREAMSIEVE_DATA", str(DATA))
