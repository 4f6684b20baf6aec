"""`learn_one` with new names in every row costs a row, not a pass over all features so far."""

import pytest

import streamsieve
from streamsieve.methods.learners.annealed import AnnealedModel
from streamsieve.statistics.constraints import Constraints
from streamsieve.training.prepare import Prepare

PER_ROW = 20


def learn(model, first, last):
    for i in range(first, last):
        model.learn_one(dict.fromkeys(range(PER_ROW * i, PER_ROW * (i + 2)), 1.0), bool(i % 2))


def calls(monkeypatch, kind, name):
    """A list that grows with each call of this function."""
    before, made = getattr(kind, name), []
    monkeypatch.setattr(kind, name, lambda self, *args: made.append(args) or before(self, *args))
    return made


@pytest.mark.parametrize("name", ["SGD", "SIHT", "BARDA", "TSGD", "SFSA"])
def test_new_names_do_not_cost_a_look_at_all_features(name, monkeypatch):
    model = getattr(streamsieve, name + "Classifier")()
    learn(model, 0, 200)
    resolved = calls(monkeypatch, Constraints, "resolve")
    derived = calls(monkeypatch, Prepare, "_derive")
    learn(model, 200, 300)
    assert model.n_features_in_ == PER_ROW * 301
    assert not resolved
    assert not derived


def test_room_for_new_features_is_doubled(monkeypatch):
    model = streamsieve.SFSAClassifier()
    learn(model, 0, 100)
    moved = calls(monkeypatch, AnnealedModel, "_move")
    learn(model, 100, 800)  # 8 times as many features, in two models and copies of them
    assert 0 < len(moved) <= 20


def test_what_follows_from_centre_and_units_is_the_same_when_features_come_one_by_one():
    model = streamsieve.SGDClassifier()
    learn(model, 0, 200)
    stage = model._model.prepare
    grown = stage.derived
    stage.forget_derived()
    fresh = stage.derived
    assert (grown.near, grown.plain_targets) == (fresh.near, fresh.plain_targets)
    assert grown.map.centred.tolist() == fresh.map.centred.tolist()
    assert grown.map.inverse is fresh.map.inverse is stage.inverse
