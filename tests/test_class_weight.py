"""Weights of classes mean what they mean in scikit-learn: factors of the rows' own weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight

import streamsieve
from streamsieve import BARDAClassifier, OFSAClassifier, SGDClassifier, SIHTClassifier, load, save
from streamsieve.methods import ESTIMATORS

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 8))
y = np.where(X[:, 1] - X[:, 4] + 0.5 * rng.normal(size=300) > 1.2, "rare", "often")
KINDS = [SGDClassifier, SIHTClassifier, OFSAClassifier, BARDAClassifier]


def fitted(kind, **options):
    return kind(**({"k": 2} if "k" in kind._params else {}), **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("given", ["balanced", {"rare": 3.0}, {"rare": 0.5, "often": 2}])
def test_class_weights_are_sample_weights(kind, given):
    rows = rng.uniform(0.5, 2, size=300)
    weights = compute_sample_weight(given, y)
    ours = fitted(kind, class_weight=given).fit(X, y)
    assert_allclose(ours.coef_, fitted(kind).fit(X, y, sample_weight=weights).coef_, rtol=1e-12)
    ours.fit(X, y, sample_weight=rows)
    assert_allclose(ours.coef_, fitted(kind).fit(X, y, sample_weight=rows * weights).coef_, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_takes_a_dict(kind):
    given = {"rare": 4.0}
    whole = fitted(kind, class_weight=given).partial_fit(X, y, classes=("often", "rare"))
    parts = fitted(kind, class_weight=given)
    for at in range(0, 300, 70):
        parts.partial_fit(X[at : at + 70], y[at : at + 70], classes=("often", "rare"))
    assert_allclose(parts.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
    plain = fitted(kind).partial_fit(
        X, y, classes=("often", "rare"), sample_weight=compute_sample_weight(given, y)
    )
    assert_allclose(whole.coef_, plain.coef_, rtol=1e-12)


def test_one_row_at_a_time_too():
    given = {True: 4.0}
    ours, plain = SGDClassifier(class_weight=given), SGDClassifier()
    for x, label in zip(X[:50], y[:50] == "rare"):
        row = dict(enumerate(x))
        ours.learn_one(row, bool(label))
        plain.learn_one(row, bool(label), w=4.0 if label else 1.0)
    assert_array_equal(ours.coef_, plain.coef_)


class Source:
    def __init__(self, blocks):
        self.blocks = blocks

    def __iter__(self):
        return iter(self.blocks)


def test_a_source_of_blocks_takes_a_dict_and_refuses_balanced():
    cut = [(X[:150], y[:150]), (X[150:], y[150:])]
    blocks = Source(cut)
    weighted = Source([(a, b, compute_sample_weight({"rare": 3.0}, b)) for a, b in cut])
    ours = SGDClassifier(class_weight={"rare": 3.0}).fit(blocks)
    assert_array_equal(ours.coef_, SGDClassifier().fit(weighted).coef_)
    with pytest.raises(ValueError, match="class_weight='balanced' needs the number of rows"):
        SGDClassifier(class_weight="balanced").fit(blocks)


def test_balanced_weights_find_what_is_rare():
    plain, balanced = (OFSAClassifier(2, class_weight=c).fit(X, y) for c in (None, "balanced"))
    rare = y == "rare"
    assert np.mean(balanced.predict(X)[rare] == "rare") > np.mean(plain.predict(X)[rare] == "rare")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("even", r"class_weight='even'; expected dict, 'balanced' or None"),
        ({"rare": -1.0}, r"finite numbers >= 0"),
        ({"rare": "much"}, r"labels and numbers"),
        (
            {"never": 2.0},
            r"class_weight names 'never', which is not one of the 2 classes: \['often', 'rare'\]",
        ),
        ([1, 2], r"expected dict, 'balanced' or None"),
    ],
)
def test_what_is_no_class_weight_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        SGDClassifier(class_weight=given).fit(X, y)


def test_streams_refuse_balanced():
    with pytest.raises(ValueError, match="'balanced' is not supported for partial_fit"):
        SGDClassifier(class_weight="balanced").partial_fit(X, y, classes=("often", "rare"))
    with pytest.raises(ValueError, match="'balanced' is not supported for learn_one"):
        SGDClassifier(class_weight="balanced").learn_one({"a": 1.0}, True)


def test_every_classifier_has_it_and_no_regressor():
    for name, (_, task) in ESTIMATORS.items():
        kind = getattr(streamsieve, name)
        assert ("class_weight" in kind().get_params()) == (task == "classification")


@pytest.mark.parametrize("given", ["balanced", {"rare": 3.0}])
def test_a_saved_classifier_has_its_weights(given, tmp_path):
    model = SIHTClassifier(2, class_weight=given).fit(X, y)
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").class_weight == given
    assert clone(model).class_weight == given
    save(clone(model), tmp_path / "u")
    assert load(tmp_path / "u").class_weight == given


def test_workers_refuse_it():
    from streamsieve.distributed.fit import prepare

    with pytest.raises(ValueError, match="class_weight"):
        prepare(SGDClassifier(class_weight={0: 2.0}), None, classes=(0, 1))
