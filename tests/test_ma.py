"""The tables and figures of [Ma], where its data are at hand, and how parameters are chosen."""

import numpy as np
import pytest

from papers import data
from papers.experiments import ma
from papers.report import Figure, Outcomes
from papers.tuning import cross_validate
from papers.workers import run_job

try:
    data.data_directory()
    reason = ""
except FileNotFoundError as missing:
    reason = str(missing)

at_hand = pytest.mark.skipif(bool(reason), reason=reason)


class Sign:
    """The sign of one feature, turned by `side`; `size` weights of which all but one do nothing."""

    def __init__(self, side, size):
        self.side, self.coef_ = side, np.ones(size)

    def predict(self, X):
        return self.side * np.sign(X[:, 0])


def test_parameters_are_chosen_by_errors_on_rows_left_out_then_by_size():
    X = np.random.default_rng(0).normal(size=(53, 10))
    y = np.sign(X[:, 0])
    tried = [(-1, 1), (1, 7), (1, 3), (1, 5)]
    seen = []

    def trials(_, y):
        seen.append(len(y))
        for side, size in tried:
            yield {"side": side, "size": size}, Sign(side, size)

    assert cross_validate(trials, X, y) == {"side": 1, "size": 3}
    assert sum(53 - n for n in seen) == 53  # each row is left out once
    tried = [(1, 7), (1, 5), (-1, 3), (-1, 2)]
    assert cross_validate(trials, X, y, max_share=0.5) == {"side": 1, "size": 5}
    assert cross_validate(trials, X, y, max_share=0.3) == {"side": -1, "size": 2}
    assert cross_validate(trials, X, y, max_share=0.1) == {"side": -1, "size": 2}  # none is that small


def test_rejection_anneals_from_one_to_nothing():
    for gamma in ma.GAMMAS:
        np.testing.assert_allclose(ma.annealed_rate(np.array([0.0, 1.0]), gamma), [1, 0], atol=1e-12)


@at_hand
def test_features_have_variance_one():
    X, _, X_test, _ = ma.scaled_rows("dexter")
    both = np.concatenate([X.toarray(), X_test.toarray()])
    deviation = both.std(axis=0)
    np.testing.assert_allclose(deviation[deviation > 0], 1)


def test_gravity_is_taken_off_in_steps():
    assert ma.options({"eta": 0.5, "g0": 0.001, "passes": 5}) == {"eta": 0.5, "alpha": 0.002}
    assert ma.options({"alpha": 0.1}) == {"alpha": 0.1}


@at_hand
def test_sets_that_are_found_are_run_and_the_others_named():
    found = {job["data"] for job in ma.jobs(2, False) if job["what"] == "table"}
    assert found == set(ma.sets_at_hand()) >= {"dexter", "arcene"}
    assert {job["data"] for job in ma.jobs(2, True) if job["what"] == "table"} == {"dexter"}
    for name in set(ma.SETS) - found:
        assert f"{name} is not at hand" in ma.missing(name)


@at_hand
@pytest.mark.slow
def test_the_report_has_a_row_for_what_was_run_and_three_figures(monkeypatch, tmp_path):
    monkeypatch.setattr(ma, "LAST", 3)
    wanted = {"data": "dexter", "loss": "logistic"}
    jobs = [
        job
        for job in ma.jobs(2, True)
        if job["what"] != "table" or (wanted.items() <= job.items() and job["method"] in ("RDA", ma.OURS))
    ]
    outcomes = Outcomes([(job, run_job("ma", job, {})[0].value) for job in jobs])
    table, *figures = ma.report(outcomes)
    assert [row[:3] for row in table.rows] == [["logistic", "dexter", "RDA"], ["logistic", "dexter", ma.OURS]]
    ours = table.rows[1]
    assert len(ours) == len(table.columns)
    assert ours[3].mean < 10
    assert (ours[3].published, ours[5].published, ours[7].published) == (6.41, 1.32, 0.58)
    assert ours[5].mean < 3
    assert ours[7].mean > 0.5
    assert len(figures) == 3
    for figure in figures:
        assert isinstance(figure, Figure)
        assert figure.draw(tmp_path).stat().st_size > 1000
