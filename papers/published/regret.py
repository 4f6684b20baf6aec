"""What [Sun] 5.3 and [Susan] 5.2 say of their curves of regret, which are drawn, not printed: `regret`."""

from __future__ import annotations

AVERAGES = ("OLSth", "OFSA", "OMCP", "OElnet")
# By figure, the claim, the shape of the curve that it means, and the methods it is about.
CLAIMS: dict[str, tuple[tuple[str, str, tuple[str, ...]], ...]] = {
    "regret-sun": (
        ("The running averages' regret falls about as 1 / n", "falls", AVERAGES),
        (
            "TSGD's stays on a plateau at first, then falls as theirs does",
            "plateau, then falls",
            ("TSGD", "TSGD, fading steps", "TSGD, against its last model", "TSGD, cut when read"),
        ),
        ("SADMM's does not converge", "stays", ("SADMM", "SADMM, rho = 1, fading steps")),
    ),
    "regret-susan": (
        ("OLST's and, with C = 500, the hybrid's fall about as 1 / n", "falls", ("OLSth", "C = 500")),
        (
            "TSGD's and, with C = 50, the hybrid's stay on a plateau at first, then fall so",
            "plateau, then falls",
            ("TSGD", "TSGD, cut when read", "C = 50"),
        ),
    ),
}

# Slopes of log(regret) against log(n): above the first a curve stays, within the others it falls as 1 / n.
FLAT, FALLING = -0.5, (-1.15, -0.85)
RULE = (
    "The slope of log(regret) against log(n) between the first two n of the table below, then between the "
    f"last two. -1 is a fall as 1 / n; {FALLING[0]} to {FALLING[1]} counts as one, above {FLAT} as a "
    "plateau. "
)
WHY = {
    "regret-sun": (
        "TSGD is truncated after every row, as in Table 5.1, where it finds what chance finds: it keeps the "
        "support of its first rows, and its regret falls to the error of that support and stays, with "
        "constant and with fading steps; with the RMSE of 13.3 that Table 5.1 has at signal 1 no regret by "
        "(3.16) tends to less than 13.3^2 - 1 = 177. So print, which has the plateau first and then a fall, "
        "shows another algorithm or another regret. Algorithm 2, which learns all weights and truncates when "
        "it is read, gives the printed curve at signals 1 and 0.1. Compared with its own last model, in "
        "place of the best in hindsight, TSGD falls as 1 / n from the start, down to the noise of its steps. "
        "SADMM stays with rho = 1 and steps that fade as 1 / sqrt(t), and falls with our defaults, rho = "
        "0.001 and constant steps. At signal 0.01 the noise of constant steps is as large as what there is "
        "to learn, and neither Algorithm 2 nor SADMM falls on."
    ),
    "regret-susan": (
        "TSGD and the hybrid, OLST-then-TSGD with its C, are truncated after every row and keep the support "
        "that they start with: where it is wrong, it costs the same in every row, and the plateau comes "
        "last. In print it comes first. Truncated when it is read ([Sun] Algorithm 2), TSGD has the printed "
        "curve where the signal is not weak. C = 500 falls to what the noise of constant steps, or a feature "
        "that it lacks, costs in every row."
    ),
}
