"""
Text: words as features
=======================

Which words distinguish the documentation of NumPy from that of SciPy? The documents are docstrings. Each
row is a dict of words, and each new word becomes a new feature.
"""

import re

import numpy as np
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats

from streamsieve import SelectionDisplay, SieveClassifier, read


def documents():
    for package, modules in {
        "numpy": (np, np.linalg, np.fft, np.random, np.ma, np.char),
        "scipy": (scipy.linalg, scipy.signal, scipy.special, scipy.stats),
    }.items():
        for module in modules:
            for name in sorted(vars(module)):
                text = getattr(getattr(module, name), "__doc__", None) if name[0] != "_" else None
                if isinstance(text, str) and len(text) > 300:
                    yield package, text


def rows():
    for package, text in sorted(documents(), key=lambda pair: hash_of(pair[1])):
        words = set(re.findall(r"[a-z]{3,}", text.lower())) - {"numpy", "scipy"}
        yield {**dict.fromkeys(words, 1.0), "the label": package}


def hash_of(text):
    return sum(i * ord(c) for i, c in enumerate(text[:200], 1)) % 9973


stream = read(rows(), target="the label")
model = SieveClassifier(20, grow=True)
for X, y, _ in stream:
    model.partial_fit(X, y, classes=["numpy", "scipy"])
display = SelectionDisplay.from_estimator(model)
display.ax_.set_yticks(range(20), [stream.feature_names[j] for j in display.features])
display.ax_.set_xlabel("NumPy's  ←  weight  →  SciPy's")

# %%
# **Take home.** No vocabulary is needed in advance. The model grows with the words and selects a fixed
# number of them.
