"""The papers' numbers, from the experiments that print them."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from papers import data, store
from papers.baselines import fit_averages, fofs_params, lasso, omp
from papers.check import check, differences
from papers.experiments import (
    EXPERIMENTS,
    attainable,
    bounds,
    classification,
    detection,
    drift,
    exceptions,
    explained,
    inference,
    load_experiment,
    protocol,
    readings,
    recovery,
    regret,
    sfsa,
    susan,
    theory,
    zhai,
)
from papers.published import parse_table
from papers.report import Cell, Outcomes, Table
from papers.store import CHECKOUT
from papers.tuning import best_params, cross_validate, largest_model
from streamsieve import RunningAverages, simulate
from streamsieve.statistics.standardize import standardize


def test_printed_numbers_are_read():
    assert parse_table("1 2 | 3 -\n4 5 |\n  6 7") == [[[1, 2], [3, None]], [[4, 5], [6, 7]]]


def test_the_best_of_what_is_tried_is_taken():
    messages = []
    tried = [({"a": 1}, 2.0), ({"a": 2}, 1.0), ({"a": 2}, 1.5), ({"a": 3}, 2.5)]  # scores of a candidate add
    assert best_params(tried, 4, messages.append) == {"a": 2}
    assert messages == ["1 of 4 tried", "2 of 4 tried", "3 of 4 tried", "4 of 4 tried"]
    assert best_params([({"a": 1}, (1, 0)), ({"a": 2}, (1, 3)), ({"a": 3}, (0, 9))]) == {"a": 2}
    assert best_params([({"a": 1}, 1), ({"a": 2}, 1)]) == {"a": 1}
    sizes = [({"lam": 3}, 2), ({"lam": 2}, 5), ({"lam": 1}, 5), ({"lam": 0}, 6)]
    assert largest_model(sizes, 5) == {"lam": 1}


def test_cross_validation_takes_the_fewest_errors_then_the_fewest_features():
    class Model:
        def __init__(self, sign, features):
            self.sign, self.coef_ = sign, np.arange(features + 1)

        def predict(self, X):
            return self.sign * X[:, 0]

    def trials(_, __):
        for sign, features in ((-1, 1), (1, 4), (1, 2), (1, 3)):
            yield {"sign": sign, "features": features}, Model(sign, features)

    y = np.tile([-1.0, 1.0], 10)
    X = np.repeat(y[:, None], 4, axis=1)
    messages = []
    assert cross_validate(trials, X, y, total=4, progress=messages.append) == {"sign": 1, "features": 2}
    assert messages[-1] == "20 of 20 tried"
    assert cross_validate(trials, X, y, max_share=0.3) == {"sign": -1, "features": 1}


def test_the_lasso_takes_the_most_features_up_to_k():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = X[:, :3] @ [3.0, 2.0, 1.0] + 0.1 * rng.normal(size=60)
    for k in (1, 2, 3):
        support, predict = lasso(X, y, k)
        assert support.tolist() == list(range(k))
    assert np.sqrt(np.mean((y - predict(X)) ** 2)) < 0.15


def test_averages_are_as_good_as_rows_to_the_lasso_and_to_pursuit():
    X, y = simulate.correlated(None, p=40, k=4, signal=0.3).take(500)
    s = standardize(RunningAverages().update(X, y))
    for name, fit in (("Lasso", lasso), ("OMP", omp)):
        support, predict = fit(X, y, 6)
        again, predict_again = fit_averages(name, s, 6)
        assert again.tolist() == support.tolist()
        np.testing.assert_allclose(predict_again(X), predict(X), rtol=1e-8)


def test_the_step_of_fofs_is_that_of_rows_of_norm_one():
    X = np.array([[3.0, 4.0], [0.0, 5.0]])
    assert fofs_params(X) == fofs_params(sp.csr_array(X)) == {"eta": 0.2 / 25}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_jobs_that_json_can_hold(name):
    quick, paper = (load_experiment(name).jobs(*scale) for scale in ((1, True), (2, False)))
    for jobs in (quick, paper):
        keys = [json.dumps(job, sort_keys=True) for job in jobs]
        assert keys or (name == "real" and data.missing_files("dexter"))  # it has jobs for the data at hand
        assert len(set(keys)) == len(keys)


# At least so many percent of the true features: signal, n.
LEAST = {
    (1.0, 1_000): {"OLSth": 99, "OFSA": 99, "OLasso": 31, "OElnet": 31, "OALa": 81, "OMCP": 91},
    (1.0, 3_000): {"OLSth": 100, "OFSA": 100, "OLasso": 45, "OElnet": 45, "OALa": 100, "OMCP": 99},
    (0.1, 3_000): {"OLSth": 95, "OFSA": 98, "OLasso": 43, "OElnet": 43, "OALa": 95, "OMCP": 95},
    (0.01, 100_000): {"OLSth": 79, "OFSA": 85, "OLasso": 80, "OElnet": 80, "OALa": 79, "OMCP": 84},
}


def test_one_run_reports_every_method():
    job = {"p": 1_000, "signal": 1.0, "ns": [1_000], "seed": 7}
    outcome = measure_all(detection, job)
    assert outcome["OFSA"]["1000"]["found"] >= 97
    assert outcome["OFSA"]["1000"]["rmse"] < 1.3
    assert outcome.keys() == {"RAVE", *detection.METHODS}
    report = detection.report(Outcomes([(job, outcome)]))
    assert [len(table.rows) for table in report] == [1, 1, 1, 1]


def measure_all(experiment, job):
    return experiment.measure(list(experiment.methods(**job)), **job)


def test_sfsa_is_reported_beside_all_competitors(monkeypatch):
    monkeypatch.setattr(sfsa, "P", 400)
    monkeypatch.setattr(sfsa, "K", 10)
    pairs = []
    for task in ("regression", "classification"):
        job = {"task": task, "signal": 1.0, "ns": [5_000, 10_000], "seed": sfsa.SEED}
        outcome = measure_all(sfsa, job)
        assert outcome.keys() == {*sfsa.METHODS[task], *sfsa.BESIDE[task]}
        assert all(by_n["10000"]["seconds"] > 0 for by_n in outcome.values())
        assert min(outcome[m]["10000"]["found"] for m in ("SFSA", "TSGD")) == 100
        pairs.append((job, outcome))
    regression, classification, sparse = sfsa.report(Outcomes(pairs))
    assert [row[:3] for row in regression.rows[:3]] == [
        ["1", "5,000", "found %"],
        ["", "", "test RMSE"],
        ["", "", "seconds"],
    ]
    assert regression.rows[0][5].published == 98.05  # TSGD
    printed = regression.columns.index(sfsa.PRINTED)
    assert regression.rows[0][printed].published == regression.rows[0][3].published == 56.75
    assert regression.rows[2][5].verdict == ""
    assert [len(t.rows) for t in (regression, classification, sparse)] == [6, 3, 0]


@pytest.mark.parametrize(
    ("experiment", "methods", "job"),
    [
        (sfsa, ("SFSA-AG", "SFSA"), {"p": 500, "k": 5, "nnz": 20, "n": 2_000, "seed": sfsa.SEED}),
        (detection, ("SIHT", "SGD", "OLSth"), {"p": 1_000, "signal": 0.1, "ns": [1_000], "seed": 0}),
        (classification, ("SOFS", "FOFS", "OMCP"), {"signal": 0.1, "ns": [1_000], "seed": 0}),
    ],
)
def test_one_method_is_measured_as_among_others(experiment, methods, job):
    together = experiment.measure(list(methods), **job)
    for name in methods:
        alone = experiment.measure([name], **job)
        assert alone.keys() == {name}
        assert not list(differences(alone[name], together[name]))
    first, *others = together.values()
    assert all(any(differences(first, other)) for other in others)


def test_runs_of_sfsa_that_are_fewer_are_named():
    jobs = sfsa.jobs(3, quick=False)
    tables = sfsa.report(Outcomes([(job, {method: {} for method in sfsa.methods(**job)}) for job in jobs]))
    for table in tables[:2]:
        assert "3 runs, n = 100,000: 2, n = 300,000: 2, OPG and RDA: 1; published: 20." in table.note
    assert "3 runs, OPG and RDA: 1; published: 20." in tables[2].note


def test_x1_is_read_in_every_way():
    outcome = readings.measure(True, 2_000, 0)
    assert outcome["as given"].keys() == outcome["batches"].keys() | {"SOFS"} == readings.PUBLISHED.keys()
    assert outcome["batches"]["FOFS"]["found"] > 20  # chance is 1
    (table,) = readings.report(Outcomes([({"always": True, "n": 2_000, "seed": 0}, outcome)]))
    assert [row[1:3] for row in table.rows[:2]] == [["as given", "found %"], ["as given", "test AUC"]]
    assert table.rows[4][4] == "-"  # SOFS has no batches


@pytest.mark.slow
@pytest.mark.parametrize("signal", [1.0, 0.1, 0.01])
def test_detection_rates(signal):
    ns = [n for s, n in LEAST if s == signal]
    runs = [detection.measure(list(LEAST[signal, ns[0]]), 1_000, signal, ns, seed) for seed in range(5)]
    short = {}
    for n in ns:
        for method, least in LEAST[signal, n].items():
            cell = Cell([run[method][str(n)]["found"] for run in runs], least)
            if cell.verdict == "worse":
                short[n, method] = str(cell)
    assert not short


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_stored_outcomes_still_hold(name, tmp_path):
    """If not, `python -m papers check NAME --out docs/results` marks those that do not."""
    stored = CHECKOUT / "docs" / "results" / name / "outcomes.jsonl"
    cheap = [record for record in store.read(stored).values() if record.seconds < 30]
    store.rewrite(tmp_path / "outcomes.jsonl", cheap)
    found = check(tmp_path / "outcomes.jsonl", name, 1, lambda *_: None)
    assert not [each.summary() for each in found if each.moved]


@pytest.mark.slow
def test_drift_is_followed():
    agree = drift.measure("phases agree", 0)
    assert agree["0.001 a row"]["300"] <= 1.05
    assert agree["none"]["300"] > 2
    assert np.shape(agree["curves"]["truth"]) == np.shape(agree["curves"]["none"]["coef"])


def test_all_rows_of_susans_table_are_run():
    lengths = {(signal, k): ns for signal, k, ns in susan.settings()}
    assert sum(len(ns) for (signal, _), ns in lengths.items() if "," not in signal) == 22
    assert lengths["weak, 0.01", 100] == lengths["weak", 100] == [1_000, 10_000, 100_000, 300_000, 1_000_000]
    first, second = (
        {n for job in susan.jobs(3, False) if job["seed"] == seed for n in job["ns"]} for seed in (1, 2)
    )
    assert max(first) == 1_000_000
    assert max(second) == susan.ALL_ROWS


def test_what_is_proved_is_measured(monkeypatch):
    monkeypatch.setattr(theory, "LENGTHS", (300, 1_000))
    monkeypatch.setattr(theory, "RATE_ROWS", (1_000, 3_000, 10_000))
    jobs = theory.jobs(2, quick=True)
    outcomes = Outcomes([(job, theory.measure(**job)) for job in jobs])
    assert max(outcomes.where(what="theorem 1").values("share")) < 1
    assert max(outcomes.where(what="theorem 3").values("share")) < 1
    assert max(outcomes.where(what="theorem 1").values("ratio")) < 1.26  # its condition
    regrets = outcomes.where(what="proposition 5", p=20)
    assert max(regrets.values("1000")) < 0.4 * max(regrets.values("300"))
    assert outcomes.where(what="labels", fair=True).values("10000") == [1.0, 1.0]
    assert outcomes.where(what="labels", fair=False).values("10000") == [0.0, 0.0]
    for gain, bound in zip(*(outcomes.where(what="lemma 2").values("0", name) for name in ("gain", "bound"))):
        assert 0 < gain < bound  # closer, and not by as much as printed
    purged = outcomes.where(what="lemma 1", gravity=theory.GRAVITIES[1])
    assert max(purged.values("0.8", "gain")) < 0 < min(purged.values("0.8", "bound"))
    assert max(purged.values("0.8", "at most")) < 0  # of a number of features
    assert len(theory.report(outcomes)) == 7


@pytest.mark.parametrize("method", ["B-ARDA", "B-AMD"])
def test_regret_is_below_its_bound(method):
    outcome = bounds.measure(what="regret", method=method, delta="as needed", n=300, seed=0)
    assert 0 < outcome["regret"] < outcome["bound"]
    assert outcome["truncation"] > 0


def test_bounds_are_reported_beside_what_is_measured():
    jobs = [job for job in bounds.jobs(2, quick=True) if job.get("n", 0) <= 10_000]
    outcomes = Outcomes([(job, bounds.measure(**job)) for job in jobs if job["what"] in ("ofsa", "sfsa")])
    found = outcomes.where(what="ofsa", p=20, n=10_000)
    assert found.values("at 1") == [1.0, 1.0]
    assert min(found.values("needed")) > max(found.values("steps"))  # the steps as printed are too few
    for p in bounds.WIDTHS:
        assert all(
            by["bound"] > 1 for _, by_ratio in outcomes.where(p=p, what="sfsa") for by in by_ratio.values()
        )


def test_the_regret_of_least_squares_is_below_the_bound_of_its_proof():
    jobs = [
        job | {"n": 4_000}
        for job in bounds.jobs(2, quick=True)
        if job["what"] == "olsth" and job["n"] == 1_000
    ]
    outcomes = [(job, bounds.measure(**job)) for job in jobs]
    assert {job["weights"] for job in jobs} == {
        "[Sun] (3.28)",
        "a tenth of (3.28)",
    }  # n_0 of the other is 2,764
    for job, outcome in outcomes:
        assert 0 < outcome["regret"] < outcome["bound"]
        early = outcome["right"] <= bounds.first_rows(4_000, job["weights"])
        assert early == (job["weights"] == "[Sun] (3.28)")
    table = bounds._olsth_table(Outcomes(outcomes))
    assert [row[4] for row in table.rows] == ["100%", "0%"]


def test_signs_depend_on_the_row_and_the_response_before():
    X, y = bounds.draw_signs(10, 20_000, 0.1, 0)
    assert set(np.unique(X)) == {-1.0, 1.0}
    assert (X[1:] * X[:-1]).mean() == pytest.approx(bounds.KEEPS, abs=0.02)
    assert (X[1:] * np.sign(y[:-1])[:, None]).mean() > bounds.FOLLOWS / 2
    assert bounds.corollary_3(X)["ratio"] < 1.26


def test_the_share_that_normal_errors_find_is_what_least_squares_find(monkeypatch):
    monkeypatch.setattr(recovery, "P", 200)
    found = {5: [], 100: []}
    for k, shares in found.items():
        for seed in range(4 if k == 100 else 20):
            stream = simulate.correlated(400, 200, k, signal=0.2, spacing=1, random_state=seed)
            support = recovery.METHODS["OLSth, no ridge"](
                standardize(RunningAverages().update(*stream.take(400))), k
            ).support
            shares.append(100 * np.isin(support, stream.support).mean())
    few, many = (recovery.expected_share(k, 400, 0.2) for k in found)
    assert many > few + 10
    assert np.mean(found[5]) == pytest.approx(few, abs=12)
    assert np.mean(found[100]) == pytest.approx(many, abs=4)


def test_a_rate_depends_on_k_where_the_interval_of_its_rise_leaves_out_zero():
    verdicts = [recovery._verdict(Cell(values)) for values in ([9.0, 10.0, 11.0], [0.1, 0.2], [-20.0, 30.0])]
    assert verdicts == ["does not hold", "holds", "undecided"]


def test_schedules_are_drawn_from_all_features_to_k():
    figure = recovery._annealing_figure()
    for x, left in figure.panels[0].lines.values():
        assert (len(x), left[-1]) == (500, 10)
        assert left == sorted(left, reverse=True)


def test_what_is_said_of_regret_is_judged_by_the_slopes_of_its_curves(monkeypatch):
    monkeypatch.setattr(regret, "SHOWN", (100, 200, 400, 800))
    falling = {n: 1000 / n for n in regret.SHOWN}
    late = dict(zip(regret.SHOWN, (10.0, 9.0, 8.0, 4.0)))
    early = dict(zip(regret.SHOWN, (10.0, 5.0, 4.0, 4.0)))
    curves = dict.fromkeys(regret.EXTRACTORS, falling) | dict.fromkeys([*regret.LEARNERS][:5], early)
    curves |= {"TSGD, cut when read": late, "SADMM": falling, regret.OWN: falling | {800: -1.0}}
    outcome = {str(n): {m: curve[n] for m, curve in curves.items()} for n in regret.SHOWN}
    shorter = {n: by for n, by in outcome.items() if n != "800"}
    job = {"setting": "Sun, signal 1", "n": 800, "seed": 0}
    figure, claims, numbers = regret.report(Outcomes([(job, outcome), (job | {"seed": 1}, shorter)]))
    assert "runs: 2, from n = 800 on: 1" in figure.note
    assert {row[1]: row[2].rpartition(": ")[2] for row in claims.rows} == dict.fromkeys(
        regret.EXTRACTORS, "holds"
    ) | {
        "TSGD": "does not hold",
        "TSGD, fading steps": "does not hold",
        regret.OWN: "does not hold",
        "TSGD, cut when read": "holds",
        "SADMM": "does not hold",
        "SADMM, rho = 1, fading steps": "holds",
    }
    assert claims.rows[0][2] == "-1.00, then -1.00: holds"
    assert claims.rows[6][2] == "-1.00, then below 0: does not hold"
    assert len(numbers.rows) == len(curves) - 1


def test_regret_is_that_of_all_methods(monkeypatch):
    monkeypatch.setattr(regret, "P", 120)
    figure, _, *rest = regret.SETTINGS["Sun, signal 1"]
    monkeypatch.setitem(regret.SETTINGS, "Sun, signal 1", (figure, 12, *rest))
    monkeypatch.setattr(regret, "SHOWN", (500, 1_000))
    monkeypatch.setattr(regret, "SADMM_ROWS", 500)
    outcome = regret.measure("Sun, signal 1", 1_000, 0)
    lost = {m for m in regret.LEARNERS if m.startswith("SADMM")}
    assert outcome["500"].keys() - outcome["1000"].keys() == lost
    assert outcome["500"][regret.OWN] < outcome["500"]["TSGD"]
    assert all(value > 0 for value in outcome["1000"].values())


def test_a_models_error_is_read_from_the_averages():
    X, y = simulate.correlated(None, p=30, k=3).take(200)
    coef = np.linspace(-1, 1, 30)
    error = regret.model_error(RunningAverages().update(X + 2, y), coef, 0.5)
    assert error == pytest.approx(np.mean((y - (X + 2) @ coef - 0.5) ** 2))


def test_claims_of_l1_are_read_from_the_tables():
    def cells(values):
        return [Cell([v]) for v in values]

    columns = ["data", "method", *map(str, zhai.BUDGETS), "parameters"]
    budgeted = [["dexter", m, *cells([a] * 8), ""] for m, a in (("B-ARDA", 85.0), ("B-AMD", 70.0))]
    rows = [["dexter", "l1-ARDA", size, *cells([a]), ""] for size, a in (("5", 99), ("20", 80), ("90", 90))]
    rows += [["dexter", "Ada-FOBOS", "50", *cells([60.0]), ""]]
    budgets = Table(zhai.BUDGET_TITLE, columns, budgeted)
    penalties = Table(zhai.PENALTY_TITLE, ["data", "method", "features", "accuracy", "parameters"], rows)
    assert dict(zhai.claims_of_l1(budgets, penalties).rows) == {
        "B-ARDA is better than l1-ARDA": "1 of 2, not at 90 (85.0 and 90.0)",
        "B-AMD is better than Ada-FOBOS": "1 of 1",
        "B-ARDA is better than B-AMD": "5 of 5",
        "B-ARDA is better than Ada-FOBOS": "1 of 1",
        "l1-ARDA is better than B-AMD": "2 of 2",
        "l1-ARDA is better than Ada-FOBOS": "1 of 1",
    }


def test_drift_is_judged_over_the_last_few_hundred_steps_at_the_decay_of_the_paper():
    curve = [2.0] * 70 + [1.0] * 20 + [3.0] * 10  # every tenth step
    assert drift.last_rmse(curve, 300) == pytest.approx(np.sqrt((20 * 1 + 10 * 9) / 30))
    assert drift.last_rmse(curve, 100) == pytest.approx(3.0)
    outcome = {rate: {"300": 1.5, "100": 3.0} for rate in drift.RATES}
    jobs = [{"design": design, "seed": s} for design in drift.DESIGNS for s in (1, 2)]
    (table,) = drift.report(Outcomes([(job, outcome) for job in jobs]))
    judged = {
        (row[0], row[1], rate): cell.published
        for row in table.rows
        for rate, cell in zip(drift.RATES, row[2:])
        if cell.published
    }
    assert judged == {
        ("period 1,750", "300", "0.01 a step"): 1.028,
        ("period 1,750", "300", "none"): 2.28,
    }


def test_causes_are_shown_at_work(monkeypatch):
    for name, value in {"P": 100, "K": 10, "STEP_ROWS": 3_000, "AVERAGED": 50}.items():
        monkeypatch.setattr(explained.learners, name, value)
    outcome = explained.measure("fofs", 0)
    step = {name: outcome["1.0"][name]["last"]["auc"] for name in ("as given", "derived")}
    assert step["derived"] > step["as given"]
    jobs = [{"what": "fofs", "seed": 0}, {"what": "fofs", "seed": 1}]
    (table,) = explained.report(Outcomes([(job, outcome) for job in jobs]))
    assert [row[1] for row in table.rows[:2]] == ["0.2", "0.2"]
    assert [row[2] for row in table.rows[:2]] == ["the last row's", "average of 1,000 rows"]


def test_a_small_rho_finds_and_a_large_one_does_not(monkeypatch):
    for name, value in {"P": 100, "K": 10, "SADMM": {1_000: 0.0}}.items():
        monkeypatch.setattr(explained.learners, name, value)
    rates = explained.measure("sadmm", 0)["1000"]
    assert rates["constant, 1"] < rates["constant, 0.001"] <= rates["default"]


def test_the_gamma_that_finds_depends_on_the_signal(monkeypatch):
    settings = {(200, 1.0, 200): (None, None), (200, 0.02, 2000): (None, None)}
    monkeypatch.setattr(explained.averages, "SIGNALS", settings)
    outcome = explained.measure("gamma", 0)
    strong, weak = outcome["200, 1"], outcome["200, 0.02"]
    assert strong["3"]["rmse"] <= strong["10"]["rmse"]
    assert weak["3"]["rmse"] > weak["10"]["rmse"]


def test_omcp_as_printed_stands_beside_the_default(monkeypatch):
    for name, value in {"P": 60, "K": 6, "PRINTED": {(1.0, 3_000): (41.5, 0.996)}}.items():
        monkeypatch.setattr(explained.averages, name, value)
    outcome = explained.measure("printed", 0)
    rates = outcome["1"]["both signs"]
    assert rates["default"]["found"] == rates["1.95"]["found"] == 100
    (table,) = explained.report(Outcomes([({"what": "printed", "seed": 0}, outcome)]))
    assert [row[1:3] for row in table.rows[:2]] == [["one sign", "found %"], ["one sign", "AUC"]]
    assert not any(cell.better for cell in table.rows[0][3:6])  # the default is judged in `classification`
    assert (table.rows[0][4].published, table.rows[2][4].published) == (41.5, None)
    s = standardize(RunningAverages().update(*simulate.correlated(None, 60, 6, random_state=0).take(2_000)))
    eta = 1 / np.linalg.eigvalsh(s.R)[-1]
    support = explained.averages._iterated_mcp(s.R, s.r[:, 0], 6, eta)
    assert 0 < len(support) <= 6


def test_every_part_of_the_causes_has_a_table():
    jobs = explained.jobs(1, quick=False)
    assert {job["what"] for job in jobs} == set(explained.PARTS)
    assert not {job["what"] for job in explained.jobs(1, quick=True)} & set(explained.LONG)
    assert explained.report(Outcomes([])) == []


def test_simulations_of_inference_are_reported():
    jobs = inference.jobs(1, quick=True)
    assert {job["part"] for job in jobs} == {"coverage", "fdr", "anytime", "stability"}
    assert sum(job["part"] == "fdr" for job in jobs) == 9
    some = [
        next(job for job in jobs if job["part"] == part and job.get("noise") != "plain")
        for part in ("coverage", "fdr", "stability")
    ]
    outcomes = Outcomes([(job, inference.measure(**job | {"repeats": 2})) for job in some])
    coverage, fdr, stability = inference.report(outcomes)
    assert [row[1] for row in coverage.rows] == ["naive", "split", "splits"]
    assert [row[2] for row in fdr.rows] == ["0.1", "0.2"]
    assert len(stability.rows) == 3
    shares = [float(row[3].split()[0]) for row in coverage.rows]
    assert shares[0] < 50 < 80 <= shares[1]


def test_clusters_and_sizes_of_rows_are_in_the_noise():
    rng = np.random.default_rng(0)
    X, e, cluster = inference.rows_with_noise(rng, "equal", "clusters", 5000, 3)
    pairs = e.reshape(-1, 5)
    assert np.corrcoef(pairs[:, 0], pairs[:, 1])[0, 1] == pytest.approx(0.5, abs=0.1)
    assert np.corrcoef(X[:, 0], X[:, 1])[0, 1] == pytest.approx(0.5, abs=0.1)
    assert (np.bincount(cluster) == 5).all()
    X, e, _ = inference.rows_with_noise(rng, "independent", "rows", 5000, 3)
    assert (e**2).mean() == pytest.approx(1, abs=0.15)
    assert ((X[:, 0] * e) ** 2).mean() > 1.4 * (X[:, 0] ** 2).mean() * (e**2).mean()


def test_what_can_be_found_is_what_is_found():
    """The rates that the distribution of least squares gives are those of streams."""
    expected = attainable.expected_rates(100_000, 0)
    assert 0.25 < expected["by size"] < expected["with known signs"] < 0.45
    found = []
    for seed in range(5):
        X, y = simulate.correlated(
            3000, 200, 10, signal=0.058, spacing=1, unit_variance=True, random_state=seed
        ).take(3000)
        weights = np.linalg.lstsq(X, y)[0]
        found.append(np.mean(np.argsort(-np.abs(weights))[:10] < 10))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attainable, "P", 200)
        patch.setattr(attainable, "SIGNAL", 0.058)
        assert abs(attainable.expected_rates(3000, 0)["by size"] - np.mean(found)) < 0.15


def test_attainable_errors_and_rates_have_rows(monkeypatch):
    for name, value in {"P": 200, "RUN_ROWS": 1000, "ROWS": 400, "MANY_ROWS": 1000, "DRAWS": 50}.items():
        monkeypatch.setattr(attainable, name, value)
    monkeypatch.setattr(attainable, "WEAK", {1000: 23.51})
    jobs = attainable.jobs(2, quick=True)
    tables = attainable.report(Outcomes([(job, attainable.measure(**job)) for job in jobs]))
    assert [len(table.rows) for table in tables] == [3, 2]
    strong, weak = (row[2].mean for row in tables[1].rows)
    assert strong > 1.15 > weak


def test_a_choice_by_the_test_is_made_over_all_orders_and_among_the_sparse():
    errors = {"a": [10.0, 30.0], "b": [15.0, 17.0], "c": [18.0, 16.0]}  # a is best in one order only
    shares = {"a": 50.0, "b": 40.0, "c": 5.0}
    pairs = [
        (
            {"what": "choice", "data": data, "loss": "logistic", "method": exceptions.ma.PRINTED}
            | {"quick": False, "seed": seed},
            {name: {"error": errors[name][seed], "share": shares[name]} for name in errors},
        )
        for data in ("arcene", "dorothea")  # of which at most 6 and 3 % count as sparse
        for seed in range(2)
    ]
    (table,) = exceptions.report(Outcomes(pairs))
    assert [(row[0], row[4], row[5].mean, row[-1]) for row in table.rows] == [
        ("arcene", "3", 16.0, "b"),
        ("arcene", "1", 17.0, "c"),
        ("dorothea", "3", 16.0, "b"),
    ]


def test_shared_features_are_those_of_both_parts(monkeypatch):
    """Features that one part lacks are dropped, and a stored zero is not a value."""
    train = sp.csr_array(np.array([[1.0, 2.0, 0.0, 5.0], [3.0, 0.0, 0.0, 4.0]]))
    train.data[train.data == 5.0] = 0.0
    test = sp.csr_array(np.array([[2.0, 0.0, 7.0, 1.0], [6.0, 0.0, 1.0, 0.0]]))
    parts = {"train": (train, np.array([1.0, -1.0])), "test": (test, np.array([-1.0, 1.0]))}
    monkeypatch.setattr(data, "load", lambda _, part: parts[part])
    assert protocol.measure_features("dorothea") == {"training": 75.0, "both": 50.0}
    X, _, X_test, _ = protocol.read_rows("dorothea", protocol.UNSCALED)
    assert X.toarray().tolist() == [[1, 0, 0, 0], [3, 0, 0, 4]]
    assert X_test.toarray().tolist() == [[2, 0, 0, 1], [6, 0, 0, 0]]


def test_parameters_of_the_protocol_are_chosen_by_all_orders():
    figures = {"a": [(9.0, 50.0), (3.0, 50.0)], "b": [(5.0, 7.0), (5.0, 9.0)]}  # a is best in one order only
    job = {"what": "stabilized", "data": "dorothea", "loss": "hinge", "rows": protocol.UNSCALED}
    pairs = [
        (
            job | {"quick": False, "seed": seed},
            {name: {"error": some[seed][0], "share": some[seed][1]} for name, some in figures.items()},
        )
        for seed in range(2)
    ]
    (table,) = protocol.report(Outcomes(pairs))
    ((*_, error, share, params),) = table.rows
    assert (error.mean, error.published, share.mean, share.published, params) == (5.0, 5.14, 8.0, 6.68, "b")


def test_more_runs_are_judged_against_the_best_published(monkeypatch):
    monkeypatch.setattr(exceptions, "P", 1000)
    monkeypatch.setattr(exceptions, "QUICK_N", 500)
    jobs = [job for job in exceptions.jobs(2, quick=True) if job["what"] == "runs"]
    (table,) = exceptions.report(Outcomes([(job, exceptions.measure(**job)) for job in jobs]))
    ((name, found, deviation, published),) = table.rows
    assert (name, found.published, published) == ("TSGD", 86.1, "84.2")
    assert float(deviation) == pytest.approx(np.std(found.values, ddof=1), abs=0.01)
    assert all(10 < value < 100 for value in found.values)


def test_other_halves_have_as_many_of_each_class():
    labels = np.array([1, -1, 1, -1, -1, 1, -1, 1])
    (_, first), *others = attainable._halves(labels, 4, 0)
    assert first.tolist() == [0, 1, 2, 3]
    assert len(others) == attainable.SPLITS
    for kind, rows in others:
        assert kind == "random"
        assert labels[rows].sum() == 0
        assert len(np.unique(rows)) == 4
