"""What an experiment reports: tables, figures, notes, and the outcomes they are made of.

Nothing here changes an outcome, so these files are no part of the version that outcomes are stored under.
"""

from __future__ import annotations

from .figures import Figure, Panel
from .outcomes import Outcomes
from .sources import Sources
from .tables import Cell, Note, Table

__all__ = ["Cell", "Figure", "Note", "Outcomes", "Panel", "Part", "Sources", "Table"]

Part = Table | Figure | Note | Sources
