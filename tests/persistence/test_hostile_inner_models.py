"""Models that hold models: what a file puts inside must fit what is around it."""

import numpy as np
import pytest
from sklearn.preprocessing import RobustScaler

import prefero
from model_files import TakenApart, answers, notes, problem, refused, small, stack, table
from prefero import load, save


@pytest.fixture(scope="module")
def stacked(tmp_path_factory):
    path = tmp_path_factory.mktemp("stacked") / "stacked.prefero"
    X, Y = problem(24)
    save(stack().fit(X, Y), path)
    return path


def put_inside(parts, other, path):
    """Write a model to a file and take it apart, its arrays behind those of another file."""
    save(other, path)
    inside = TakenApart(path)
    first = len(parts.arrays)
    parts.arrays += inside.arrays
    return moved(inside.model, first)


def moved(value, first):
    """The same value with its arrays that much further behind."""
    if isinstance(value, dict):
        return {
            key: first + part if key == "array" else moved(part, first)
            for key, part in value.items()
        }
    return [moved(part, first) for part in value] if isinstance(value, list) else value


def consensus(n_features, n_labels):
    X, Y = problem(24, c=n_labels)
    return prefero.ConsensusLabelRanker().fit(X[:, :n_features], Y)


def test_what_is_put_inside_is_accepted_where_it_fits(stacked, path):
    parts = TakenApart(stacked)
    parts.state["members_"][0] = put_inside(parts, consensus(3, 4), path)
    parts.write(path)
    assert len(load(path).predict(problem(5)[0])) == 5


@pytest.mark.parametrize(("n_features", "n_labels"), [(2, 4), (3, 3)])
def test_a_member_of_other_features_or_labels(stacked, path, n_features, n_labels):
    parts = TakenApart(stacked)
    parts.state["members_"][0] = put_inside(parts, consensus(n_features, n_labels), path)
    refused(parts, path, "members_")


@pytest.mark.parametrize("odd", ["x", {"tuple": ["trees"]}, {"tuple": ["trees", "x"]}, None, 3])
def test_a_stack_of_what_ranks_nothing(stacked, path, odd):
    parts = TakenApart(stacked)
    parts.state["rankers"][0] = odd
    refused(parts, path, "named rankers")


@pytest.mark.parametrize("labels", [3, 4, 6])
def test_a_calibrated_ranker_of_other_labels(path, labels):
    X, Y = problem(24)
    ranker = prefero.make_ranking_pipeline(RobustScaler(), prefero.ConsensusLabelRanker())
    save(prefero.CalibratedMultilabelRanker(ranker).fit(X, (Y < 3).astype(int)), path)
    parts = TakenApart(path)
    parts.state["ranker_"] = put_inside(parts, consensus(3, labels), path)
    refused(parts, path, "the labels seen")


@pytest.mark.parametrize("name", ["CohenOrderer", "BoostingOrderer"])
def test_an_orderer_of_other_pairs(path, name):
    X, Y = problem(24)
    save(prefero.LabelFeatureRanker().fit(X, Y), path)
    parts = TakenApart(path)
    orderer = small(getattr(prefero, name)()).fit(X, Y[:, 0])
    parts.state["orderer_"] = put_inside(parts, orderer, path)
    refused(parts, path, "an orderer of pairs")


@pytest.fixture
def mixed():
    X, Y = problem(24)
    return table(X).assign(note=notes(X)), Y


def test_a_table_with_texts_goes_before_a_ranker(mixed, path):
    frame, Y = mixed
    ranker = prefero.make_ranking_pipeline(
        prefero.TableTransformer(), small(prefero.ForestLabelRanker())
    )
    save(ranker.fit(frame, Y), path)
    found, known = answers(load(path), frame), answers(ranker, frame)
    assert all((found[name] == known[name]).all() for name in known)


def test_a_table_that_lies_about_its_columns(mixed, path):
    save(prefero.TableTransformer().fit(mixed[0]), path)
    parts = TakenApart(path)
    index = parts.state["nominal_"]["array"]
    parts.arrays[index] = parts.arrays[index][:-1]
    refused(parts, path, "the columns of all features")


def test_a_text_is_not_read_by_any_transformer(mixed, path):
    save(prefero.TableTransformer().fit(mixed[0]), path)
    parts = TakenApart(path)
    counts = prefero.LogCountTransformer().fit([[1.0], [2.0]])
    parts.state["texts_"] = [put_inside(parts, counts, path)]
    refused(parts, path, "one encoder per text")


def test_a_text_encoder_of_no_words_keeps_its_width():
    # A file may give it dimensions without words: each of them is 0 for every text.
    encoder = prefero.TextEncoder().fit([["a"], ["b"]])
    assert encoder.transform([["c"]]).shape == (1, 1)
    encoder.components_ = np.empty((3, 0))
    assert encoder.transform([["c"]]).shape == (1, 4)
