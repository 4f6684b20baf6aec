"""A few calls on one estimator, good and bad ones mixed, with a check of the rules after each."""

import copy
import pickle
import threading

import numpy as np
from sklearn.base import clone

import streamsieve
from streamsieve.core import state as states
from streamsieve.core.params import Bool, Int, OneOf, Or, Real
from streamsieve.methods import ESTIMATORS

from . import batches
from .rules import Failure, check_finite, check_refusal, strict_warnings

NAMES = list(ESTIMATORS)
WRONG = [
    None,
    "nope",
    -1,
    0,
    2.5,
    True,
    np.nan,
    np.inf,
    -np.inf,
    1e300,
    10**30,
    [],
    {},
    object(),
    np.ones(2),
    b"x",
]
#: Values within the domain that mean a lot of work are none of a user in a hurry.
SMALL = [1, 2, 3, 5, np.int64(3), np.int8(2), np.uint64(4)]
LARGE = {
    "k": [10**9, 2**31, 2**63 - 1],
    "n_jobs": [1, 2, 7, 64],
    "random_state": [0, 2**64 - 1, np.uint64(7)],
}
SPECIAL = {
    "memory": ["1MB", "2MB", 1 << 20, "256MB"],
    "decay": [None, 0.1, 0.999, np.float32(0.5)],
    "half_life": [None, 3.0, 1e-3, 1e6],
    "start": [None],
}


def values_of(name, domain):
    """Values within a domain."""
    if name in SPECIAL:
        return SPECIAL[name]
    if isinstance(domain, Or):
        return [
            v
            for choice in domain.choices
            for v in ([choice] if isinstance(choice, str | None) else values_of(name, choice))
        ]
    if isinstance(domain, Int):
        return [v for v in SMALL + LARGE.get(name, []) if _accepted(domain, v)]
    if isinstance(domain, Real):
        return [v for v in (0, 0.1, 0.5, 1, 2.0, np.float32(0.3), 1e-12, 1e6, 1e75) if _accepted(domain, v)]
    if isinstance(domain, Bool):
        return [True, False, np.True_]
    return list(domain.words) if isinstance(domain, OneOf) else []


def _accepted(domain, value):
    try:
        domain.accept(value)
    except ValueError:
        return False
    return True


class Session:
    """An estimator, and what is known of it."""

    def __init__(self, rng, folder):
        self.rng, self.folder, self.log = rng, folder, []
        self.name = str(rng.choice(NAMES))
        self.kind, self.task = getattr(streamsieve, self.name), ESTIMATORS[self.name][1]
        self.p, self.classes = int(rng.choice([1, 2, 9, 30])), int(rng.choice([2, 2, 3]))
        self.options = self.draw_options(0.15)
        self.note(f"{self.name}({', '.join(f'{k}={v!r}' for k, v in self.options.items())}), p={self.p}")
        self.model = self.kind(**self.options)

    def note(self, text):
        self.log.append(text)

    def draw_options(self, share):
        rng, options = self.rng, {}
        for name, param in self.kind._params.items():
            if rng.random() > (0.5 if name == "k" else share):
                continue
            values = WRONG if rng.random() < 0.1 else values_of(name, param.domain)
            if values:
                options[name] = values[rng.integers(len(values))]
        return options

    def labels(self):
        return np.arange(self.classes)

    # ---------------------------------------------------------------- calls

    def batch(self, share):
        rng = self.rng
        X, y = batches.good(rng, self.p, self.task, classes=self.classes)
        rows = batches.draw(rng, batches.ROWS, ("good", "csr"), share)
        targets = batches.draw(rng, batches.TARGETS, share=0.5 + share / 2)
        weights = batches.draw(rng, batches.WEIGHTS, ("none", "none", "good"), 0.5 + share / 2)
        self.note(f"  {len(X)} rows {rows!r}, targets {targets!r}, weights {weights!r}")
        w = rng.uniform(0.5, 2, len(X))
        with np.errstate(all="ignore"):
            return (
                batches.ROWS[rows](rng, X),
                batches.TARGETS[targets](rng, y),
                batches.WEIGHTS[weights](rng, w),
            )

    def learn(self, verb, share=0.4):
        self.note(verb)
        with warnings_off():
            X, y, w = self.batch(share)
        options = {}
        if self.task == "classification" and verb == "partial_fit" and self.rng.random() < 0.9:
            options["classes"] = self.labels()
        held = frozen(X), frozen(y), frozen(w)
        before = snapshot(self.model)
        refused = self.attempt(lambda: getattr(self.model, verb)(X, y, sample_weight=w, **options))
        if (frozen(X), frozen(y), frozen(w)) != held:
            raise Failure(f"{verb} has changed its input")
        if refused:
            check_unchanged(before, self.model)
        else:
            self.check_model()

    def read(self):
        verb = str(self.rng.choice(["predict", "transform", "decision_function", "predict_proba"]))
        if not hasattr(self.model, verb):
            return
        self.note(verb)
        with warnings_off():
            X, *_ = self.batch(0.3)
        before, out = snapshot(self.model), []
        self.attempt(lambda: out.append(getattr(self.model, verb)(X)))
        check_unchanged(before, self.model)
        if out and verb != "transform":
            check_finite(verb, out[0])

    def set_params(self):
        names = list(self.kind._params)
        name = "k" if "k" in names and self.rng.random() < 0.5 else str(self.rng.choice(names))
        values = values_of(name, self.kind._params[name].domain)
        values = WRONG if not values or self.rng.random() < 0.3 else values
        value = values[self.rng.integers(len(values))]
        self.note(f"set_params({name}={value!r})")
        old = getattr(self.model, name)
        self.model.set_params(**{name: value})
        before = snapshot(self.model)
        if hasattr(self.model, "method_"):
            refused = self.attempt(lambda: weights_of(self.model))
            check_unchanged(before, self.model)
            if refused:
                self.model.set_params(**{name: old})

    def copy(self):
        how = str(self.rng.choice(["pickle", "deepcopy", "save", "clone"]))
        self.note(how)
        if how == "pickle":
            self.model = pickle.loads(pickle.dumps(self.model))
        elif how == "deepcopy":
            self.model = copy.deepcopy(self.model)
        elif how == "clone":
            with_params = clone(self.model)
            if hasattr(with_params, "method_"):
                raise Failure("a clone has learned")
        elif hasattr(self.model, "method_"):
            file = self.folder / "model"
            if not self.attempt(lambda: streamsieve.save(self.model, file)):
                before = snapshot(self.model)
                self.model = streamsieve.load(file)
                check_unchanged(before, self.model)

    def learn_one(self):
        self.note("learn_one")
        rng = self.rng
        names = [f"x{j}" for j in range(self.p)] + ["new", 3, ("a", 1), None, ""]
        values = [1.0, 0.0, -2, True, np.float32(1), *batches.EXTREMES, "1", None, [1], 10**400, 1j]
        x = {names[rng.integers(len(names))]: values[0] for _ in range(rng.integers(4))}
        if rng.random() < 0.4 and x:
            x[next(iter(x))] = values[rng.integers(len(values))]
        if rng.random() < 0.05:
            x = [None, [], "x", 3, {1}][rng.integers(5)]
        targets = [
            0,
            1,
            True,
            "a",
            None,
            np.nan,
            np.inf,
            1e200,
            [1],
            10**400,
            np.array([1.0]),
            np.array([1, 2]),
        ]
        y = targets[0 if rng.random() < 0.6 else rng.integers(len(targets))]
        weights = [1.0, 0, 2, np.float32(1), -1, np.nan, np.inf, 1e200, 1e-300, None, "1", True, [1]]
        w = weights[0 if rng.random() < 0.6 else rng.integers(len(weights))]
        options = {"classes": self.labels()} if self.task == "classification" and rng.random() < 0.7 else {}
        self.note(f"  {x!r}, {y!r}, {w!r}")
        before = snapshot(self.model)
        if self.attempt(lambda: self.model.learn_one(x, y, w, **options)):
            check_unchanged(before, self.model)
        elif hasattr(self.model, "method_") and self.model.n_features_in_:
            self.check_model(predict=False)
        before = snapshot(self.model)
        self.attempt(lambda: self.model.predict_one(x))
        check_unchanged(before, self.model)

    def threads(self):
        """Two threads learn, one reads; the end is that of one of the two orders."""
        if not hasattr(self.model, "method_") or self.model.n_features_in_ != self.p:
            return
        self.note("threads")
        parts = [batches.good(self.rng, self.p, self.task, classes=self.classes) for _ in range(2)]
        if any(not self.takes(X, y) for X, y in parts):
            return
        ends = []
        for order in (parts, parts[::-1]):
            other = copy.deepcopy(self.model)
            refused = [self.attempt(lambda other=other, X=X, y=y: other.partial_fit(X, y)) for X, y in order]
            ends.append((other, any(refused)))
        if any(refused for _, refused in ends):
            return
        errors = []

        def work(X, y):
            try:
                self.model.partial_fit(X, y)
                weights_of(self.model)
            except Exception as error:
                errors.append(error)

        team = [threading.Thread(target=work, args=part) for part in parts]
        for thread in team:
            thread.start()
        for thread in team:
            thread.join()
        if any("=" in str(error) or "folds" in str(error) for error in errors):
            return  # a parameter that these rows show to be too large, or rows that are too few to choose one
        if errors:
            raise Failure(f"a thread failed: {errors[0]!r}") from errors[0]
        if not any(self.same(end) for end, _ in ends):
            raise Failure("two threads end in neither order")

    def same(self, other):
        """Whether another model has learned the same, bit for bit; averages, which readers cut, nearly."""
        options = self.model.get_params()
        if options.get("dtype") == "float32" or options.get("decay") or options.get("half_life"):
            return self.model.method_.n_rows == other.method_.n_rows
        if ESTIMATORS[self.name][0].family != "averages":
            return not list(differences(self.model, other))
        one, two = (np.column_stack([np.atleast_2d(w), b]) for w, b in map(weights_of, (self.model, other)))
        return self.model.method_.n_rows == other.method_.n_rows and np.allclose(
            one, two, rtol=1e-4, atol=1e-7
        )

    def takes(self, X, y):
        """Whether these are rows that the model would learn: of its width, names and labels."""
        if hasattr(self.model, "feature_names_in_") or not len(X):
            return False
        if self.task == "regression":
            return self.model._task.one_column
        return np.isin(y, self.model.classes_.tolist()).all()

    # ---------------------------------------------------------------- rules

    def attempt(self, call):
        """Whether a call is refused, as it may be."""
        try:
            with strict_warnings():
                call()
        except Exception as error:
            self.note(f"  {type(error).__name__}: {str(error)[:200]}")
            check_refusal(error)
            return True
        return False

    def check_model(self, predict=True):
        model, out = self.model, []
        if self.attempt(lambda: out.extend(weights_of(model))):
            if (
                "folds" in self.log[-1]
                or "hold no rows" in self.log[-1]
                or "rows do not" in self.log[-1]
                or "far larger than those" in self.log[-1]  # the weight of one row, whose fold is left out
                or any(f"{name}=" in self.log[-1] for name in model.get_params())
            ):
                return  # too few rows for what was chosen, or a parameter that may still change
            raise Failure("a model that has learned cannot be read")
        for what, values in zip(("coef_", "intercept_"), out):
            check_finite(what, values)
        used = np.count_nonzero(np.atleast_2d(out[0]).any(axis=0))
        options = model.get_params()
        k, grouped = options.get("k"), options.get("groups") or options.get("group_categories")
        if isinstance(k, int | np.integer) and used > k and not grouped:  # k counts groups
            raise Failure(f"{used} features are selected with k={k}")
        if predict and not hasattr(model, "feature_names_in_"):
            p = model.n_features_in_
            self.attempt(lambda: out.append(model.predict(np.ones((2, p)))))
            if len(out) < 3:
                raise Failure("a model that has learned cannot predict")
            check_finite("a prediction", out[2])


def weights_of(model):
    """Weights and intercepts; of a model with curves, which has no `coef_`, how large they are."""
    curved = model.get_params().get("effects", "linear") != "linear"
    return model._weights() if curved else (model.coef_, model.intercept_)


class warnings_off:
    """No warnings of NumPy or pandas while a case makes its input."""

    def __enter__(self):
        import warnings

        self.held = warnings.catch_warnings()
        self.held.__enter__()
        warnings.simplefilter("ignore")

    def __exit__(self, *error):
        self.held.__exit__(*error)


def frozen(value):
    """Something that changes where the value does."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return value.tobytes(), value.shape
    parts = [getattr(value, name) for name in ("data", "indices", "indptr") if hasattr(value, name)]
    if len(parts) == 3:
        return tuple(part.tobytes() for part in parts)
    return None


def snapshot(model):
    """A copy of all that is known about a model."""
    held = {name: value for name, value in vars(model).items() if name != "_model"}
    method = getattr(model, "method_", None)
    held = {name: copy.copy(value) for name, value in held.items()}
    if method is None:
        return held, None
    state = method.state.copy()
    fourth = getattr(getattr(state, "fourth", None), "averages", None)
    folds = getattr(getattr(state, "folds", None), "folds_", ())
    for averages in (getattr(state, "averages", None), fourth, *folds):
        if averages is not None and hasattr(averages, "flush"):
            averages.flush()  # as readers do
    stages = [states.copied(stage) for stage in (model._model.prepare, model._model.refitted)]
    return held, (state, method.p, method.q, stages)


def differences(a, b):
    yield from a.method_.state.differences(b.method_.state)
    if a.n_features_in_ != b.n_features_in_ or a.method_.p != b.method_.p:
        yield "n_features_in_"


def check_unchanged(before, model):
    """Raise Failure where a call that was refused, or only read, has left a trace."""
    held, method = before
    now, after = snapshot(model)
    if (method is None) != (after is None):
        raise Failure("a refused call has left a model")
    new = (now.keys() ^ held.keys()) - {"names_", "n_iter_"}  # names are read lazily; files hold no passes
    if new:
        raise Failure(f"a refused call has left {sorted(new)}")
    names = now.get("names_", {name: j for j, name in enumerate(now.get("feature_names_in_", ()))})
    if held.get("names_", names) != names:
        raise Failure("a refused call has left names")
    if held.get("n_features_in_") != now.get("n_features_in_"):
        raise Failure("a refused call has changed n_features_in_")
    if method is not None:
        found = [*method[0].differences(after[0]), *states.differences(method[3], after[3], "stages")]
        if found or method[1:3] != after[1:3]:
            raise Failure(f"a refused call has changed the state: {found[:4]}")


def run(number, seed, folder):
    rng = np.random.default_rng([seed, number])
    session = None
    try:
        session = Session(rng, folder)
        session.learn(str(rng.choice(["fit", "partial_fit"])), share=0.7)
        for _ in range(rng.integers(1, 5)):
            step = str(
                rng.choice(
                    ["learn", "learn", "fit", "read", "set_params", "copy", "learn_one", "threads"],
                )
            )
            if step == "learn":
                session.learn("partial_fit")
            elif step == "fit":
                session.learn("fit")
            else:
                getattr(session, step)()
    except Exception as error:
        log = [] if session is None else session.log
        raise Failure("\n".join([*log, f"{type(error).__name__}: {error}"])) from error
    return session.name
