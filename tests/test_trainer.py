"""One trainer: the command line, `fit` on arrays and `fit` on a source that can be read again agree."""

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

import streamsieve
from streamsieve import load, read
from streamsieve.cli import main
from streamsieve.core.rows import as_rows
from streamsieve.methods import ESTIMATORS
from streamsieve.training import trainer
from streamsieve.training.model import Model

N, P = 400, 12


def run(*words):
    done = CliRunner().invoke(main, [*map(str, words)])
    assert done.exit_code == 0, done.output
    return done


def table(task):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(N, P)) + 4 * (np.arange(P) % 3 == 0)) * 10.0 ** (np.arange(P) % 3)
    score = X[:, 3] / 1 - X[:, 7] / 10 + 0.1 * rng.normal(size=N)
    return X, np.where(score > np.median(score), 1, -1) if task == "classification" else score


def bytes_of(model):
    return np.concatenate([np.ravel(model.coef_), np.ravel(model.intercept_)]).tobytes()


@pytest.fixture(scope="module", params=["csv", "svmlight"])
def files(request, tmp_path_factory):
    folder, out = tmp_path_factory.mktemp("rows"), {}
    for task in ("regression", "classification"):
        X, y = table(task)
        if request.param == "csv":
            file, data = folder / f"{task}.csv", X
            names = [*(f"x{j}" for j in range(P)), "y"]
            lines = [",".join(names)]
            lines += [",".join(repr(float(v)) for v in [*x, t]) for x, t in zip(X, y)]
            options = {"target": "y"}
        else:
            kept = np.random.default_rng(1).random(X.shape) < 0.5
            kept[0, P - 1] = True  # the first row has the last column, so that no block is narrower
            data = sp.csr_array(X * kept)
            file, options = folder / f"{task}.svm", {}
            lines = [
                f"{t!r} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in zip(row.indices, row.data))
                for t, row in ((y[i].item(), data[[i]]) for i in range(N))
            ]
        file.write_text("\n".join(lines) + "\n")
        out[task] = file, options, data, y
    return out


@pytest.mark.parametrize("name", ESTIMATORS)
def test_command_line_arrays_and_sources_give_the_same_bytes(name, files, tmp_path):
    entry, task = ESTIMATORS[name]
    file, options, X, y = files[task]
    kind = getattr(streamsieve, name)
    size = {"k": 3} if "k" in entry.load().params else {}
    fitted = kind(**size).fit(X, y)
    words = ["fit", file, "--method", entry.name.lower(), "--task", task, "-o", tmp_path / "m", "-q"]
    words += [f"--{option}={value}" for option, value in options.items()]
    run(*words, *(["-k", 3] if size else []))
    assert bytes_of(load(tmp_path / "m")) == bytes_of(fitted)
    assert bytes_of(kind(**size).fit(read(file, **options))) == bytes_of(fitted)


@pytest.mark.parametrize("name", ["TSGDRegressor", "RDAClassifier", "BARDARegressor"])
def test_k_is_chosen_alike(name, files, tmp_path):
    entry, task = ESTIMATORS[name]
    file, options, X, y = files[task]
    fitted = getattr(streamsieve, name)(k="auto").fit(X, y)
    words = [f"--{option}={value}" for option, value in options.items()]
    run(
        "fit",
        file,
        "--method",
        entry.name.lower(),
        "--task",
        task,
        "-k",
        "auto",
        "-o",
        tmp_path / "m",
        *words,
    )
    chosen = load(tmp_path / "m")
    assert chosen.k == fitted.k_
    assert bytes_of(chosen) == bytes_of(fitted)


class Blocks:
    """A source of blocks, which counts how often it is read."""

    def __init__(self, X, y, size):
        self.X, self.y, self.size, self.readings = X, y, size, 0

    def __iter__(self):
        self.readings += 1
        for at in range(0, len(self.y), self.size):
            yield self.X[at : at + self.size], self.y[at : at + self.size]


@pytest.mark.parametrize("name", ["SGDRegressor", "SFSARegressor", "RDAClassifier", "StabilizedSGDRegressor"])
def test_a_source_beyond_memory_is_passed_over_block_by_block(name, monkeypatch):
    """Blocks of all rows, in the order of rows in memory: then both learn the same."""
    _, task = ESTIMATORS[name]
    X, y = table(task)
    from streamsieve.estimators import base

    kind = getattr(streamsieve, name)
    options = {"shuffle": False, "max_iter": 3, "standardize": False, "fit_intercept": False}
    options |= {} if name == "SGDRegressor" else {"k": 3}
    whole = kind(**options).fit(X, y)
    monkeypatch.setattr(base, "machine_memory", lambda: 0)
    source = Blocks(X, y, 70)
    parts = kind(**options).fit(source)
    assert source.readings >= 1 + parts.n_iter_
    assert parts.n_iter_ == whole.n_iter_
    assert bytes_of(parts) == bytes_of(whole)


def test_buffers_of_a_source_beyond_memory_are_shuffled(monkeypatch):
    from streamsieve.estimators import base

    X, y = table("regression")
    monkeypatch.setattr(base, "machine_memory", lambda: 0)
    options = {"max_iter": 2, "tol": 0.0}
    in_order = streamsieve.SGDRegressor(shuffle=False, **options).fit(Blocks(X, y, 50))
    one, two = (streamsieve.SGDRegressor(random_state=s, **options).fit(Blocks(X, y, 50)) for s in (0, 1))
    again = streamsieve.SGDRegressor(random_state=0, **options).fit(Blocks(X, y, 50))
    assert bytes_of(one) == bytes_of(again)
    assert len({bytes_of(in_order), bytes_of(one), bytes_of(two)}) == 3


def test_a_source_that_fits_is_read_once():
    X, y = table("regression")
    source = Blocks(X, y, 50)
    fitted = streamsieve.TSGDRegressor(3).fit(source)
    assert source.readings == 1
    assert bytes_of(fitted) == bytes_of(streamsieve.TSGDRegressor(3).fit(X, y))


def test_rows_in_memory_are_cut_as_files_are():
    """So that sums round alike whether rows come from a file or an array."""
    from streamsieve.sources import stream

    assert trainer.BLOCK_VALUES == stream.VALUES
    assert read.__kwdefaults__["block_size"] == trainer.BLOCK_ROWS


@pytest.mark.parametrize("method", ["rda", "sfsa", "stabilizedsgd", "ols"])
def test_a_run_in_memory_that_is_killed_goes_on_after_its_last_pass(method, files, tmp_path, monkeypatch):
    file, options, _, _ = files["classification"]
    words = ["fit", file, "--method", method, "--task", "classification", "--every", "1rows", "-q"]
    words += [f"--{option}={value}" for option, value in options.items()]
    words += ["--set", "loss=logistic"] if method == "ols" else ["-k", "3"]
    run(*words, "-o", tmp_path / "whole", "--checkpoint", tmp_path / "c0")
    from streamsieve.training.checkpoint import CheckpointPolicy

    write, writes = CheckpointPolicy.write, []

    class Killed(BaseException):
        pass

    def twice(self, *args, **given):
        write(self, *args, **given)
        writes.append(1)
        if len(writes) == 2:
            raise Killed

    killed = [*map(str, [*words, "-o", tmp_path / "m", "--checkpoint", tmp_path / "c"])]
    with monkeypatch.context() as patch:
        patch.setattr(CheckpointPolicy, "write", twice)
        with pytest.raises(Killed):
            CliRunner().invoke(main, killed, catch_exceptions=False)
    assert not (tmp_path / "m").exists()
    run(*words, "-o", tmp_path / "m", "--checkpoint", tmp_path / "c", "--resume")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_number_of_passes_makes_the_file_a_stream(files, tmp_path):
    file, options, X, y = files["regression"]
    words = ["fit", file, "--method", "tsgd", "-k", 3, "-o", tmp_path / "m", "-q"]
    words += [f"--{option}={value}" for option, value in options.items()]
    run(*words, "--passes", 2)
    stream = streamsieve.TSGDRegressor(3).partial_fit(X, y).partial_fit(X, y)
    assert bytes_of(load(tmp_path / "m")) == bytes_of(stream)


def test_the_command_line_says_how_the_file_is_learned(files):
    file, options, _, _ = files["regression"]
    words = ["select", file, *(f"--{option}={value}" for option, value in options.items())]
    assert "fit into memory" in run(*words, "--method", "rda", "-k", 2).stderr
    assert "fit into memory" not in run(*words, "--method", "rda", "-k", 2, "--passes", 1).stderr
    assert "fit into memory" not in run(*words, "--method", "ofsa", "-k", 2).stderr


def test_a_model_without_stages_is_its_method():
    X, y = table("regression")
    model = Model(
        ESTIMATORS["TSGDRegressor"][0].load()(k=3, standardize=False, fit_intercept=False), "regression"
    )
    model.learn(as_rows(X)[0], y)
    assert model.prepare is None
    assert model.refitted is None
    assert np.array_equal(model.coefficients()[0], model.method.weights()[0])
