"""Hostile model files: honest ones with something done to them, each from its own seed."""

import copy
import math
import random
import struct
from pathlib import Path

import numpy as np

from model_files import TakenApart, fitted_models
from prefero import save
from prefero.persistence._container import write_container
from prefero.persistence.trusted import SCIKIT_LEARN

# What an attribute may be replaced by: nothing of it belongs anywhere.
VALUES = [
    *(None, True, False, 0, -1, 1, 3, 2**31, 2**63, 10**30, -(10**18), 0.5, -0.0, 1e308, 1e-320),
    *(math.nan, math.inf, -math.inf, "", "x", "auto", "\x1b[2J", "\ud800", "../../etc/passwd"),
    *([], [0], [[]], ["a", "b"], [None] * 3),
    *({"dict": []}, {"tuple": []}, {"set": [1]}, {"slice": [0, 10**9, 1]}, {"dtype": "O"}),
    *({"type": ["builtins", "str"]}, {"array": 0}, {"array": 10**6}, {"scalar": 0}, {"odd": 1}),
    *({"objects": [[2], ["a", "a"]]}, {"objects": [[10**9], []]}, {"array": -1}),
    *({}, {"a": 1, "b": 2}),
]


def estimator(name, module="sklearn.preprocessing", **state):
    return {"estimator": [module, name, state]}


def dangers(rng):
    """Parts that are on the list, or look as if they were, with parameters that could do harm."""
    scaler = estimator("StandardScaler", copy=True, with_mean=True, with_std=True)
    steps = [{"tuple": ["a", scaler]}, {"tuple": ["b", estimator("LinearSVC", "sklearn.svm")]}]
    pipeline = {"steps": steps, "transform_input": None, "verbose": True, "memory": None}
    deep = scaler
    for _ in range(rng.choice([3, 60, 120])):
        inside = {**pipeline, "steps": [{"tuple": ["a", deep]}]}
        deep = estimator("Pipeline", "sklearn.pipeline", **inside)
    place = rng.choice(list(SCIKIT_LEARN))
    return rng.choice(
        [
            estimator("Pipeline", "sklearn.pipeline", **{**pipeline, "memory": "canary"}),
            estimator("Pipeline", "sklearn.pipeline", **pipeline),
            deep,
            estimator(rng.choice(SCIKIT_LEARN[place]), place),
            estimator("PolynomialFeatures", degree=1000, interaction_only=False, include_bias=True,
                      order="C", n_features_in_=3, _min_degree=0, _max_degree=1000,
                      n_output_features_=2**40, _n_out_full=2**40),
            estimator("FunctionTransformer", func="canary"),
            estimator("NeighborsLabelRanker", "prefero", algorithm=scaler),
            estimator("Popen", "subprocess", args=["touch", "canary"]),
            estimator("system", "os"),
            {"type": ["os", "system"]},
            {"type": ["builtins", "eval"]},
            {"sparse": ["csr_matrix", [4, 4], [0, 0, 0]]},
            {"sparse": ["coo_matrix", [4, 4], [0, 0, 0]]},
        ]
    )  # fmt: skip


class Mutants:
    """Hostile files by number; half of them have a right checksum."""

    def __init__(self, folder, seed=0):
        self.seed = seed
        self.new, self.whole, self.sources = {}, {}, []
        for name, (model, X) in fitted_models().items():
            path = Path(folder) / f"{name}.prefero"
            save(model, path)
            self.new[name], self.whole[name] = X, path.read_bytes()
            self.sources.append((name, path))

    def __call__(self, number, path):
        """Write a hostile file; return what it was made of and how."""
        rng = random.Random(f"{self.seed}:{number}")
        if number % 2:
            name, source = rng.choice(self.sources)
            kind = rng.choice(BYTES)
            path.write_bytes(kind(rng, self.whole[name], rng.choice(list(self.whole.values()))))
            return name, kind.__name__
        name, source = rng.choice(self.sources)
        parts, kind = TakenApart(source), rng.choice(REPAIRED)
        if not parts.arrays:
            kind = remove_attribute
        kind(rng, parts, path)
        return name, kind.__name__


# Bytes, whose checksum is then wrong


def flip(rng, content, other):
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]


def truncate(rng, content, other):
    return content[: rng.randrange(len(content))]


def insert(rng, content, other):
    at = rng.randrange(len(content))
    return content[:at] + rng.randbytes(rng.randrange(1, 20)) + content[at:]


def cut(rng, content, other):
    at = rng.randrange(len(content))
    return content[:at] + content[at + rng.randrange(1, 20) :]


def splice(rng, content, other):
    return content[: rng.randrange(len(content))] + other[rng.randrange(len(other)) :]


def random_bytes(rng, content, other):
    return content[: rng.choice([8, 10, 14, 78])] + rng.randbytes(rng.randrange(2000))


BYTES = [flip, truncate, insert, cut, splice, random_bytes]


# Parts, with the checksum repaired


def remove_attribute(rng, parts, path):
    *_, state = rng.choice(parts.estimators())
    if state:
        del state[rng.choice(list(state))]
    parts.write(path)


def swap_attributes(rng, parts, path):
    *_, one = rng.choice(parts.estimators())
    *_, other = rng.choice(parts.estimators())
    first, second = rng.choice(list(one)), rng.choice(list(other))
    one[first], other[second] = other[second], one[first]
    parts.write(path)


def replace_attribute(rng, parts, path):
    *_, state = rng.choice(parts.estimators())
    state[rng.choice(list(state))] = copy.deepcopy(rng.choice(VALUES))
    parts.write(path)


def plant_danger(rng, parts, path):
    *_, state = rng.choice(parts.estimators())
    state[rng.choice(list(state))] = dangers(rng)
    parts.write(path)


def add_attribute(rng, parts, path):
    *_, state = rng.choice(parts.estimators())
    names = ["predict", "__class__", "__dict__", "fit", "note_", "_index", "_trees", "n_jobs", "_x"]
    state[rng.choice(names)] = copy.deepcopy(rng.choice([*VALUES, dangers(rng)]))
    parts.write(path)


def change_anywhere(rng, parts, path):
    holder, key = rng.choice(list(places(parts.model)))
    holder[key] = copy.deepcopy(rng.choice(VALUES))
    parts.write(path)


def change_class(rng, parts, path):
    content = rng.choice(parts.estimators())
    others = ["ForestLabelRanker", "NeighborsLabelRanker", "BoostingOrderer", "load", "LinearSVC"]
    content[rng.randrange(2)] = rng.choice([*others, "prefero", "sklearn.svm", "os", 3, None])
    parts.write(path)


def nest(rng, parts, path):
    """The model as the last step of many pipelines, or behind transformers inside each other."""
    deep = estimator("StandardScaler", copy=True, with_mean=False, with_std=False,
                     n_features_in_=3, n_samples_seen_=3)  # fmt: skip
    for _ in range(rng.choice([4, 6, 10, 30])):
        steps = [{"tuple": ["a", deep]}]
        if rng.random() < 0.3:
            union = [{"tuple": [name, deep]} for name in "abc"]
            deep = estimator("FeatureUnion", "sklearn.pipeline", transformer_list=union,
                             n_jobs=None, transformer_weights=None, verbose=False,
                             verbose_feature_names_out=True)  # fmt: skip
            if len(repr(deep)) > 200_000:
                break
        deep = estimator("Pipeline", "sklearn.pipeline", steps=steps, transform_input=None,
                         verbose=False, memory=None)  # fmt: skip
    model = parts.model
    whole = [{"tuple": ["t", deep]}, {"tuple": ["r", copy.deepcopy(model)]}]
    parts.model = estimator("Pipeline", "sklearn.pipeline", steps=whole, transform_input=None,
                            verbose=False, memory=None)  # fmt: skip
    parts.write(path)


def declare_sizes(rng, parts, path):
    """Sizes far beyond what the file holds, and numbers with one hash."""
    spots = [(at, key) for at, key in places(parts.model) if isinstance(at, dict)]
    sizes = [spot for spot in spots if str(spot[1]).startswith(("n_", "_n_"))]
    at, key = rng.choice(sizes or spots)
    many = {"set": [(2**61 - 1) * i for i in range(rng.choice([10, 20_000]))]}
    at[key] = rng.choice([10**5 + 1, 10**8, 10**10, 2**31, many, 10**400])
    parts.write(path)


def run_wild(rng, parts, path):
    """Parameters that say how to run."""
    *_, state = rng.choice(parts.estimators())
    state["n_jobs"], state["verbose"] = rng.choice([3000, -1, "x"]), 10**6
    for name in ("n_neighbors_", "n_estimators_", "n_components_", "n_features_in_", "max_models"):
        if name in state and rng.random() < 0.7:
            state[name] = rng.choice([0, -1, 10**6, 2**40, 2**63])
    parts.write(path)


def change_elements(rng, parts, path):
    array = rng.choice(parts.arrays)
    if array.size:
        flat = array.reshape(-1)
        chosen = [rng.randrange(array.size) for _ in range(rng.choice([1, 1, 3, array.size]))]
        flat[chosen] = hostile_elements(rng, array.dtype)
    parts.write(path)


def hostile_elements(rng, dtype):
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return dtype.type(rng.choice([limits.max, limits.min, 77, 0, 1, limits.max // 2]))
    if dtype.kind == "f":
        return dtype.type(rng.choice([np.inf, -np.inf, np.nan, 1e30, -1.0, 0.0, 1e-30]))
    if dtype.kind == "b":
        return np.uint8(rng.choice([0, 1, 2, 255])).view(bool)
    return rng.choice(["", "\x1b]0;x\x07", "ß"])


def change_dtype(rng, parts, path):
    index = rng.randrange(len(parts.arrays))
    kinds = ["<f4", "<f8", "<i4", "<i8", "<u8", "|b1", "<f2", "<U3", "|u1"]
    with np.errstate(all="ignore"):
        parts.arrays[index] = parts.arrays[index].astype(rng.choice(kinds))
    parts.write(path)


def change_shape(rng, parts, path):
    index = rng.randrange(len(parts.arrays))
    array = parts.arrays[index]
    changes = [
        lambda: array.reshape(-1),
        lambda: array[None],
        lambda: array.T.copy(),
        lambda: np.repeat(np.atleast_1d(array), 2, axis=0),
        lambda: np.atleast_1d(array)[: np.atleast_1d(array).shape[0] // 2],
        lambda: np.atleast_1d(array)[:0],
        lambda: np.atleast_2d(array)[:, ::-1][:, 1:],
        lambda: np.zeros((0, 10**6), array.dtype),
    ]
    parts.arrays[index] = np.ascontiguousarray(rng.choice(changes)())
    parts.write(path)


def lie_about_arrays(rng, parts, path):
    about = [[a.dtype.str, "C", list(a.shape)] for a in parts.arrays]
    entry = rng.choice(about)
    where = rng.randrange(3)
    entry[where] = [
        rng.choice(["|O", "<f8", "<M8[s]", ">f8", "<c16", "|V8", "<U9999999", "x", 3, "|S4"]),
        rng.choice(["F", "A", None]),
        rng.choice([[2**40], [2**33, 2**33], [-1], [], [1.5], "12", [0, 2**62], [1] * 40]),
    ][where]
    parts.write(path, about=about)


def change_header(rng, parts, path):
    key = rng.choice([*parts.header, "format", "sha256", "signed", "extra"])
    parts.header[key] = rng.choice([None, 3, "x\x1b[31m", [], {}, ["a"] * 4, {"a": [1]}, math.nan])
    parts.write(path)


def change_payload(rng, parts, path):
    """Bytes of the payload, anywhere."""
    content = parts.payload()
    kind = rng.choice(BYTES)
    write_container(path, parts.header, [kind(rng, content, content)])


def change_length(rng, parts, path):
    content = parts.payload()
    length = rng.choice([0, 1, 2**32, 2**63, 2**64 - 1, len(content)])
    write_container(path, parts.header, [struct.pack("<Q", length), content[8:]])


def places(value):
    """Every (container, key) in nested dicts and lists."""
    for key in list(value if isinstance(value, dict) else range(len(value))):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


REPAIRED = [
    *(remove_attribute, remove_attribute, swap_attributes, replace_attribute, replace_attribute),
    *(
        nest,
        declare_sizes,
        plant_danger,
        plant_danger,
        add_attribute,
        change_anywhere,
        change_anywhere,
        change_class,
    ),
    *(run_wild, change_elements, change_elements, change_elements, change_dtype, change_shape),
    *(change_shape, lie_about_arrays, change_header, change_payload, change_length),
]
