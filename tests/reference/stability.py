"""Stability of feature selection, written from the definitions with a loop for every sum."""

from itertools import combinations
from math import fsum


def kappa(supports, p):
    """Mean over pairs of Cohen's kappa; Ma and Zheng, eq. (17) and the text above it."""
    values = []
    for S1, S2 in combinations([set(s) for s in supports], 2):
        C1, C2 = set(range(p)) - S1, set(range(p)) - S2
        p11, p12, p21, p22 = len(S1 & S2), len(S1 & C2), len(C1 & S2), len(C1 & C2)
        q_o = (p11 + p22) / p
        q_e = (p11 + p12) * (p11 + p21) / p**2 + (p12 + p22) * (p21 + p22) / p**2
        values.append(1.0 if S1 == S2 else (q_o - q_e) / (1 - q_e))
    return fsum(values) / len(values)


def nogueira(supports, p):
    """Phi-hat and its variance; Nogueira, Sechidis and Brown (2018), Definition 4 and Theorem 7."""
    M = len(supports)
    Z = [[float(f in set(s)) for f in range(p)] for s in supports]
    k = [fsum(z) for z in Z]
    kbar = fsum(k) / M
    if kbar in (0, p):
        return 1.0, 0.0
    p_hat = [fsum(z[f] for z in Z) / M for f in range(p)]
    s2 = [M / (M - 1) * q * (1 - q) for q in p_hat]
    denominator = kbar / p * (1 - kbar / p)
    phi = 1 - fsum(s2) / p / denominator
    each = []
    for i in range(M):
        overlap = fsum(z * q for z, q in zip(Z[i], p_hat)) / p - k[i] * kbar / p**2
        correction = phi / 2 * (2 * kbar * k[i] / p**2 - k[i] / p - kbar / p + 1)
        each.append((overlap + correction) / denominator)
    mean = fsum(each) / M
    return phi, 4 / M**2 * fsum((e - mean) ** 2 for e in each)
