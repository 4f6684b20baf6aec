"""Checkpoints: what is loaded goes on bit for bit, and what is damaged is refused."""

import errno
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import is_classifier

import forge
import streamsieve
import streamsieve.core.rows
from streamsieve import (
    CheckpointError,
    FoldAverages,
    RunningAverages,
    extract,
    load,
    methods,
    read_checkpoint,
    save,
)
from streamsieve.core.state import State, differences
from streamsieve.persist import encode, files
from streamsieve.training.saved import read_plain

N, P, K, HALF = 240, 30, 5, 101

ESTIMATORS = [getattr(streamsieve, name) for name in methods.ESTIMATORS]

#: Options that put rarer state of a method to work, beside the defaults.
MORE = {
    "SFSA": [
        {"batch_size": 5, "restart": True, "variant": "adam"},
        {"batch_size": 5, "ladder": False, "maturity": 8, "eta": 0.01},
        {"batch_size": 5, "standardize": False, "variant": "nesterov"},
    ],
    "OLSTThenTSGD": [{"C": 40}, {"C": 150}],
    "RDA": [{"k": None}],
    "FOBOS": [{"k": None, "schedule": "doubling"}],
    "SADMM": [{"form": "rda"}],
    "TruncatedGradient": [{"theta": 0.5}],
    "TSGD": [{"standardize": False, "eta": 0.01, "alpha": 0.1}],
    "OFSA": [
        {"half_life": 50.0},
        {"k": "auto", "criterion": "cv"},
        {"interactions": True},
        {"dtype": "float32"},
    ],
    "OLSth": [{"k": "auto"}, {"missing": "mean"}],
    "OMCP": [{"k": "auto", "alpha": 0.1}],
}


def cases():
    for kind in ESTIMATORS:
        stem = kind.__name__.removesuffix("Regressor").removesuffix("Classifier")
        more = [{"refit": True, "batch_size": 5}] if kind.__name__ == "SFSARegressor" else []
        for i, options in enumerate([{}, *MORE.get(stem, []), *more]):
            yield pytest.param(kind, options, id=f"{kind.__name__}-{i}")


def make(kind, options):
    names = kind().get_params()
    return kind(**({"k": K} if "k" in names else {}) | options)


def data(kind, layout=np.asarray):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P)) * (rng.random((N, P)) < 0.4)
    target = X[:, 3] - 2 * X[:, 7] + 0.1 * rng.normal(size=N)
    if is_classifier(kind()):
        return layout(X), np.array(["ab", "longer", "é"])[np.digitize(target, [-0.5, 0.5])]
    return layout(X), target


def feed(model, X, y):
    return model.partial_fit(X, y, **({"classes": ["ab", "longer", "é"]} if is_classifier(model) else {}))


def same(a, b):
    """Whether two estimators have the same state, bit for bit, and the same parameters."""
    return a.get_params() == b.get_params() and not list(a.method_.state.differences(b.method_.state))


layouts = pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])


@pytest.mark.parametrize(("kind", "options"), list(cases()))
@layouts
def test_loaded_mid_stream_goes_on_bit_for_bit(kind, options, layout, tmp_path):
    X, y = data(kind, layout)
    whole = feed(feed(make(kind, options), X[:HALF], y[:HALF]), X[HALF:], y[HALF:])
    half = feed(make(kind, options), X[:HALF], y[:HALF])
    save(half, tmp_path / "half")
    again = load(tmp_path / "half")
    assert type(again) is kind
    assert same(again, half)
    resumed = feed(again, X[HALF:], y[HALF:])
    assert same(resumed, whole)
    assert_array_equal(resumed.coef_, whole.coef_)
    assert_array_equal(resumed.predict(X), whole.predict(X))
    assert_array_equal(resumed.get_support(), whole.get_support())


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_one_that_has_seen_nothing_can_be_saved(kind, tmp_path):
    save(make(kind, {}), tmp_path / "bare")
    bare = load(tmp_path / "bare")
    assert bare.get_params() == make(kind, {}).get_params()
    X, y = data(kind)
    assert_array_equal(bare.fit(X, y).coef_, make(kind, {}).fit(X, y).coef_)


@pytest.mark.parametrize(
    "kind", [kind for kind in ESTIMATORS if hasattr(kind, "learn_one")], ids=lambda kind: kind.__name__
)
def test_features_by_name_go_on_too(kind, tmp_path):
    X, y = data(kind)
    names = [*(f"word {j}" for j in range(P - 2)), 7, ("a", 2)]  # names need not be strings
    rows = [{names[j]: x[j] for j in np.flatnonzero(x)} for x in X]
    classes = {"classes": ["ab", "longer", "é"]} if is_classifier(kind()) else {}
    whole, half = make(kind, {}), make(kind, {})
    for row, t in zip(rows, y):
        whole.learn_one(row, t, **classes)
    for row, t in zip(rows[:HALF], y[:HALF]):
        half.learn_one(row, t, **classes)
    save(half, tmp_path / "half")
    half = load(tmp_path / "half")
    for row, t in zip(rows[HALF:], y[HALF:]):
        half.learn_one(row, t, **classes)
    assert half.names_ == whole.names_
    assert same(half, whole)
    assert half.predict_one(rows[0]) == whole.predict_one(rows[0])


@pytest.mark.parametrize("make_averages", [RunningAverages, lambda **options: FoldAverages(3, **options)])
@pytest.mark.parametrize("options", [{}, {"half_life": 20.0}, {"missing": "mean", "dtype": "float32"}])
@layouts
def test_averages_keep_the_rows_that_wait(make_averages, options, layout, tmp_path):
    rng = np.random.default_rng(1)
    X = layout(rng.normal(size=(3000, 6)) * (rng.random((3000, 6)) < 0.3))
    Y = rng.normal(size=(3000, 2))
    whole, half = make_averages(**options), make_averages(**options)
    for at in range(0, 3000, 100):
        whole.update(X[at : at + 100], Y[at : at + 100])
    for at in range(0, 1700, 100):
        half.update(X[at : at + 100], Y[at : at + 100])
    save(half, tmp_path / "half")
    half = load(tmp_path / "half")
    for at in range(1700, 3000, 100):
        half.update(X[at : at + 100], Y[at : at + 100])
    assert list(differences(half, whole, "")) == []


def test_a_model_is_saved_with_names_and_notes(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 3)), columns=["a", "b", "c"])
    model = extract.olsth(RunningAverages().update(frame, frame["a"] * 2), k=1)
    about = {"rows": 50, "names": ["a"], "nothing": None, "deep": {"x": [1.5, float("inf")]}}
    save(model, tmp_path / "model", about=about)
    held = read_checkpoint(tmp_path / "model")
    assert held.about == about
    assert str(held.object) == str(model)
    assert_array_equal(held.object.coef, model.coef)


def test_a_generator_goes_on():
    rng = np.random.default_rng(3)
    rng.normal(size=3)
    encoder = encode.Encoder()
    tree = json.loads(json.dumps(encoder(rng, "rng")))
    again = encode.Decoder({str(i): a for i, a in enumerate(encoder.tensors)})(tree)
    assert_array_equal(again.normal(size=5), rng.normal(size=5))


def test_the_safetensors_package_reads_it(tmp_path):
    save(small(), tmp_path / "model")
    tensors = safetensors.numpy.load_file(tmp_path / "model")
    assert json.loads(tensors["state.json"].tobytes())["model"]["method"] == "SGD"
    with safetensors.safe_open(tmp_path / "model", "np") as file:
        assert file.metadata()["format"] == "streamsieve"


# ---------------------------------------------------------------- files that are not as they should be


def small():
    X = np.random.default_rng(0).normal(size=(20, 4))
    return streamsieve.SGDRegressor().fit(X, X[:, 1])


def averages():
    X = np.random.default_rng(0).normal(size=(20, 4))
    return RunningAverages().update(X, X[:, 1])


def sfsa():
    X = np.random.default_rng(0).normal(size=(80, 9))
    return streamsieve.SFSAClassifier(2, batch_size=5).fit(X, X[:, 1] > 0)


@pytest.mark.parametrize("make_one", [small, averages, sfsa])
def test_any_damage_is_found(make_one, tmp_path):
    save(make_one(), tmp_path / "model")
    good = (tmp_path / "model").read_bytes()
    file = tmp_path / "damaged"

    @settings(max_examples=300, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def law(draw):
        raw = bytearray(good)
        for _ in range(draw.draw(st.integers(1, 3))):
            at = draw.draw(st.integers(0, len(raw) - 1))
            match draw.draw(st.sampled_from(["flip", "cut", "drop", "add", "header"])):
                case "flip":
                    raw[at] ^= draw.draw(st.integers(1, 255))
                case "cut":
                    del raw[at + 1 :]
                case "drop":
                    del raw[at : at + draw.draw(st.integers(1, 16))]
                case "add":
                    raw[at:at] = draw.draw(st.binary(min_size=1, max_size=16))
                case "header":
                    raw[at % 400 % len(raw)] ^= draw.draw(st.integers(1, 255))
            raw = raw or bytearray(1)
        if bytes(raw) == good:
            return
        file.write_bytes(raw)
        with pytest.raises(CheckpointError, match="cannot be loaded"):
            load(file)

    law()


def rewritten(file, change):
    """The file with another tree, and a sum that is right: what only somebody who means it would write."""
    tensors = safetensors.numpy.load_file(file)
    tree = json.loads(tensors.pop("state.json").tobytes())
    change(tree, tensors)
    table = sorted(tensors.items(), key=lambda item: -item[1].itemsize)
    table.append(("state.json", np.frombuffer(json.dumps(tree).encode(), np.uint8)))
    files.write_tensors(file, table, "forged", "0")


def field(tree, path):
    """The dictionary of fields that holds the last name of a path into the state, and that name."""
    *outer, name = path.split(".")
    state = tree["model"]["state"]
    for inner in outer:
        state = state["fields"][inner]
    return state["fields"], name


def set_tensor(path, value):
    def change(tree, tensors):
        fields, name = field(tree, path)
        tensors[fields[name]["tensor"]] = np.asarray(value)

    return change


def set_field(path, value):
    def change(tree, tensors):  # noqa: ARG001
        fields, name = field(tree, path)
        fields[name] = value

    return change


def set_entry(name, value):
    def change(tree, tensors):  # noqa: ARG001
        tree["model"][name] = value

    return change


def without(path):
    def change(tree, tensors):  # noqa: ARG001
        fields, name = field(tree, path)
        del fields[name]

    return change


def siht():
    X = np.random.default_rng(0).normal(size=(600, 9))
    return streamsieve.SIHTRegressor(2).fit(X, X[:, 1])


def olst():
    X = np.random.default_rng(0).normal(size=(100, 9))
    return streamsieve.OLSTRegressor(2).fit(X, X[:, 1])


def labels():
    X = np.random.default_rng(0).normal(size=(30, 4))
    return streamsieve.SGDClassifier().fit(X, np.digitize(X[:, 1], [-0.5, 0.5]))


def one_tensor_twice(tree, tensors):  # noqa: ARG001
    fields = tree["model"]["state"]["fields"]
    fields["bias"]["tensor"] = fields["scale"]["tensor"]


FORGERIES = {
    "a foreign method": (small, set_entry("method", "Popen")),
    "a task that is none": (small, set_entry("task", "exec")),
    "a state of another class": (small, lambda tree, _: tree["model"]["state"].update({"class": "Forged"})),
    "a method in place of state": (small, set_field("copy", 1)),
    "a dunder": (small, set_field("__class__", "x")),
    "too few weights": (small, set_tensor("weight", np.zeros((3, 1)))),
    "weights of another type": (small, set_tensor("weight", np.zeros((4, 1), np.float32))),
    "weights that are a number": (small, set_field("weight", 1.0)),
    "no weights": (small, without("weight")),
    "a clock cut short": (small, lambda tree, _: field(tree, "clock")[0]["clock"]["columns"].pop()),
    "too many features": (small, set_entry("p", 10**15)),
    "so many features that the memory would not do": (siht, set_entry("p", 10**10)),
    "features that are no number": (small, set_entry("p", "4")),
    "a parameter out of its domain": (
        small, lambda tree, _: tree["model"]["parameters"]["values"].__setitem__(1, -1.0),
    ),
    "one tensor twice": (small, one_tensor_twice),
    "targets without end": (
        small, lambda tree, _: tree["model"]["target"]["values"].__setitem__(0, 10**12),
    ),
    "classes in another order": (
        labels,
        lambda tree, tensors: tensors.update(
            {tree["model"]["target"]["values"][0]["tensor"]: np.array([2, 1, 0])}
        ),
    ),
    "kept features that are not there": (siht, set_tensor("kept.entry", np.full((2, 3), 99))),
    "a table of other slots": (siht, set_tensor("kept.table", np.full(16, 9, np.int32))),
    "an inverse of another size": (olst, set_tensor("inverse", np.zeros((2, 2)))),
    "a block of another size": (olst, set_tensor("block", np.zeros((1, 9)))),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_file_is_refused(name, tmp_path):
    make_one, change = FORGERIES[name]
    file = tmp_path / "model"
    save(make_one(), file)
    rewritten(file, lambda *_: None)
    load(file)
    rewritten(file, change)
    with pytest.raises(CheckpointError, match="cannot be loaded"):
        load(file)


def test_a_refit_of_another_class_is_refused_whatever_its_name(monkeypatch):
    monkeypatch.setattr(State, "kinds", dict(State.kinds))  # which the class below joins
    X, y = np.random.default_rng(0).normal(size=(400, 4)), np.arange(400.0)
    model = streamsieve.SFSARegressor(2, maturity=4, ladder=False, refit=True, batch_size=5).fit(X, y)._model
    assert model.refitted is not None
    model.verify_state()
    model.refitted = type("Refitted", (State,), {})()
    with pytest.raises(ValueError, match="refitted is Refitted, not Refitted of"):
        model.verify_state()


def test_what_is_foreign_or_newer_is_said_to_be(tmp_path, monkeypatch):
    file = tmp_path / "file"
    safetensors.numpy.save_file({"w": np.zeros(3)}, file)
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        load(file)
    safetensors.numpy.save_file({"w": np.zeros(3)}, file, metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match="its format is 'pt'"):
        load(file)
    for raw in (b"", b"short", b"\x80\x04\x95pickled" * 20, b"1 2:3\n" * 50):
        file.write_bytes(raw)
        with pytest.raises(CheckpointError, match="not a checkpoint"):
            load(file)
    save(small(), file)
    size = len(file.read_bytes())
    os.truncate(file, size - 1)
    with pytest.raises(CheckpointError, match="cut short"):
        load(file)
    with monkeypatch.context() as patch:
        patch.setattr(files, "VERSION", 2)
        save(small(), file)
    with pytest.raises(CheckpointError, match=r"format 2 .* newer .* update streamsieve"):
        load(file)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent")


#: A process for some methods each: to begin one takes longer than most methods do.
BY_PROCESS = [list(methods.METHODS)[i : i + 4] for i in range(0, len(methods.METHODS), 4)]


@pytest.mark.parametrize("names", BY_PROCESS, ids=",".join)
def test_no_forged_state_crashes_or_hangs(names, tmp_path):
    """Arrays and numbers of the state replaced by wild ones: refused, or it learns and predicts on.

    Of each method a sample of 150; .ci/run tries all of five methods under the sanitizers.
    """
    words = [sys.executable, Path(__file__).with_name("forge.py"), tmp_path, "150", *names]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120 * len(names))
    assert done.returncode == 0, f"{done.stdout[-300:]}\n{done.stderr[-3000:]}"
    counts = dict(re.findall(r"^(\w+): (\d+) files$", done.stdout, re.M))
    assert list(counts) == names
    assert all(int(count) >= 20 for count in counts.values())


@pytest.mark.parametrize("name", ["SGD", "SFSA", "SIHT", "OLST", "OLSth", "RDA", "StabilizedSGD", "Sieve"])
def test_sizes_that_a_file_declares_take_no_memory(name, tmp_path, monkeypatch):
    """Every number, width of words and shape of a file declared anew, with a checksum that is right."""
    monkeypatch.setattr(files.os, "fsync", lambda _: None)
    file = tmp_path / "model"
    save(forge.fitted(name), file)
    tensors = safetensors.numpy.load_file(file)
    tree = json.loads(tensors.pop("state.json").tobytes())
    times, least = forge.MOST
    count = 0
    for what, forged in forge.declared(tree, wrap=5):
        forge.write(file, forged, tensors)
        peak = forge.peak_of_loading(file)
        assert peak < least + times * file.stat().st_size, what
        count += 1
    assert count > 50


@pytest.mark.parametrize("name", ["SGD", "SFSA", "OLSth", "RDA", "StabilizedSGD", "OLST"])
def test_outputs_that_a_padded_file_declares_take_no_memory(name, tmp_path):
    file = tmp_path / "model"
    save(forge.fitted(name), file)
    tensors = safetensors.numpy.load_file(file)
    tree = json.loads(tensors.pop("state.json").tobytes())
    tree["model"]["target"]["values"] = [10**5, False]
    for p in (forge.P, 10**5):
        tree["model"]["p"] = p
        forge.write(file, tree, {**tensors, "pad": np.zeros(10**5)})
        assert forge.peak_of_loading(file) < 32 << 20
        with pytest.raises(CheckpointError, match="cannot be loaded"):
            load(file)


def test_a_file_has_no_tensors_that_nothing_uses(tmp_path):
    file = tmp_path / "model"
    save(small(), file)
    rewritten(file, lambda _, tensors: tensors.update(pad=np.zeros(9)))
    with pytest.raises(CheckpointError, match="nothing uses its tensors pad"):
        load(file)


def test_words_wider_than_their_text_are_loaded_at_the_width_of_the_text(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 4))
    model = streamsieve.SGDClassifier().fit(X, np.where(X[:, 1] > 0, "much", "little").astype("<U40"))
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").classes_.dtype == "<U40"
    rewritten(
        tmp_path / "model",
        lambda tree, _: tree["model"]["target"]["values"][0].update(dtype="<U500000000"),
    )
    assert load(tmp_path / "model").classes_.tolist() == ["little", "much"]
    assert forge.peak_of_loading(tmp_path / "model") < 16 << 20
    many = np.array([f"{i:06}" for i in range(3000)] + ["z" * 30_000])
    with pytest.raises(TypeError, match=r"3,001 words, the longest of 30,000 characters"):
        encode.Encoder()(many, "classes")


def test_a_plain_model_predicts_as_the_estimator_does(tmp_path):
    X, y = data(streamsieve.SGDClassifier)
    model = streamsieve.SGDClassifier().fit(X, y)
    save(model, tmp_path / "model")
    plain = read_plain(tmp_path / "model").object
    scores = plain.scores(streamsieve.core.rows.Rows(X))
    assert_array_equal(plain.predict(scores), model.predict(X))
    assert_array_equal(plain.probabilities(scores), model.predict_proba(X))
    assert_array_equal(plain.support, model.get_support(indices=True))


def test_a_file_holds_the_extracted_model(tmp_path, monkeypatch):
    X, y = data(streamsieve.OFSARegressor)
    model = streamsieve.OFSARegressor(3).fit(X, y)
    coef = model.coef_
    save(model, tmp_path / "model")
    from streamsieve.methods.averages.ofsa import OFSA

    def fail(*_):
        raise AssertionError("extracted anew")

    monkeypatch.setattr(OFSA, "extract", fail)
    again = load(tmp_path / "model")
    assert_array_equal(again.coef_, coef)
    assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(AssertionError, match="extracted anew"):
        again.partial_fit(X, y).predict(X)


def test_what_cannot_be_saved_is_named(tmp_path):
    X = np.eye(5)
    model = streamsieve.OFSARegressor(2, decay=lambda n: 1 / (n + 1)).fit(X, X[0])
    with pytest.raises(TypeError, match=r"OFSARegressor\[\d+\] is a function"):
        save(model, tmp_path / "model")
    with pytest.raises(TypeError, match="Cannot save dict"):
        save({}, tmp_path / "model")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- disks


@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
def test_a_full_disk_leaves_the_old_file(call, tmp_path, monkeypatch):
    file = tmp_path / "model"
    save(small(), file)
    before = file.read_bytes()

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(OSError, match=r"No space left on device.*unchanged") as caught:
            save(averages(), file)
    assert caught.value.errno == errno.ENOSPC
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_may_not_grow_leaves_the_old_one(tmp_path):
    resource = pytest.importorskip("resource", reason="Windows has no limit of the size of files")
    file = tmp_path / "model"
    save(small(), file)
    code = f"""
import resource, signal
import numpy as np
from streamsieve import RunningAverages, save
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
averages = RunningAverages().update(np.ones((3, 200)), np.ones(3))
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
save(averages, {str(file)!r})
"""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "OSError" in done.stderr
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == [file]
    assert type(load(file)) is streamsieve.SGDRegressor


@pytest.mark.skipif(os.name == "nt", reason="Windows has no folders that their owner may not write to")
def test_a_folder_that_cannot_be_written_to_is_named():
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "model"
        with pytest.raises(OSError, match="Cannot write the checkpoint"):
            save(small(), file / "below")
        save(small(), file)
        before = file.read_bytes()
        os.chmod(name, 0o555)
        code = f"""
import os
import numpy as np
from streamsieve import RunningAverages, save
averages = RunningAverages().update(np.ones((3, 2)), np.ones(3))
if os.geteuid() == 0:
    os.seteuid(65534)  # root may write anywhere
save(averages, {str(file)!r})
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        os.chmod(name, 0o755)
        assert "Cannot write the checkpoint (Permission denied); the old file is unchanged" in done.stderr
        assert file.read_bytes() == before
        assert list(file.parent.iterdir()) == [file]


def test_what_a_killed_writer_left_is_swept(tmp_path):
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    (tmp_path / f".model.{int(dead.stdout)}-abcd.part").write_bytes(b"half")
    alive = tmp_path / f".model.{os.getpid()}-abcd.part"
    alive.write_bytes(b"half")
    save(small(), tmp_path / "model")
    assert sorted(tmp_path.iterdir()) == sorted([alive, tmp_path / "model"])


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_a_link_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "model")
    save(small(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert type(load(tmp_path / "model")) is streamsieve.SGDRegressor


def test_a_device_is_written_to_and_not_replaced():
    save(small(), os.devnull)
    assert not os.path.isfile(os.devnull)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    save(small(), tmp_path / "pipe")
    assert os.read(reader, 1 << 16).endswith(b"}")
    os.close(reader)


def test_a_chosen_k_stays_chosen_in_a_file(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 6))
    model = streamsieve.RDARegressor(k="auto").fit(X, X[:, 1] - X[:, 4])
    streamsieve.save(model, tmp_path / "model")
    again = streamsieve.load(tmp_path / "model")
    assert (again.k, again.k_) == ("auto", model.k_)
    again.partial_fit(X, X[:, 1])


@pytest.mark.parametrize(
    ("where", "value"),
    [("names", 7), ("names", "x1"), ("names", [[]]), ("rows", 10**400), ("rows", -(2**63) - 1)],
)
def test_forged_names_and_counts_are_refused_on_loading(where, value, tmp_path):
    """They were loaded, and the first prediction raised a TypeError."""
    file = tmp_path / "model"
    save(forge.fitted("Sieve"), file)
    tensors = safetensors.numpy.load_file(file)
    tree = json.loads(tensors.pop("state.json").tobytes())
    holder = tree["model"] if where == "names" else tree["model"]["state"]["fields"]
    key = "feature_names" if where == "names" else "rows"
    assert key in holder
    holder[key] = value
    forge.write(file, tree, tensors)
    with pytest.raises(CheckpointError, match=r"names|64 bits|inconsistent"):
        load(file)
