"""Free text as numbers, and in model files."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer

import prefero
from prefero import ConsensusLabelRanker, TextEncoder, make_ranking_pipeline

TEXTS = ["a red apple", "the green apple", "a fast red car", "the slow car", "green tea", "red tea"]
TABLE = pd.DataFrame({"said": TEXTS})


def test_it_is_latent_semantic_analysis():
    found = TextEncoder(n_components=3, min_rows=1).fit_transform(TABLE)
    weighted = TfidfVectorizer().fit_transform(TEXTS)
    expected = TruncatedSVD(3, random_state=0).fit_transform(weighted)
    assert_allclose(np.abs(found[:, :-1]), np.abs(expected), atol=1e-8)
    assert_allclose(found[:, -1], np.log1p([len(text) for text in TEXTS]))


def test_new_texts_and_gaps_are_encoded():
    encoder = TextEncoder(n_components=2).fit(TABLE)
    assert_allclose(encoder.transform(TABLE), clone(encoder).fit_transform(TABLE))
    strange = encoder.transform(pd.DataFrame({"said": ["xyzzy", None, np.nan]}))
    assert_allclose(strange[:, :-1], 0)
    assert_allclose(strange[1:, -1], 0)
    assert encoder.get_feature_names_out().tolist() == ["said_1", "said_2", "said_length"]


def test_texts_without_words_have_a_length():
    assert TextEncoder().fit_transform([["!"], ["??"]]).shape == (2, 1)


def test_misuse_is_named():
    with pytest.raises(NotFittedError):
        TextEncoder().transform(TABLE)
    with pytest.raises(ValueError, match="2D array"):
        TextEncoder().fit(TEXTS)
    with pytest.raises(ValueError, match="expecting 1 features"):
        TextEncoder().fit(TABLE).transform([["a", "b"]])


def test_it_is_saved(tmp_path):
    ranks = np.tile([[1, 2], [2, 1]], (3, 1))
    model = make_ranking_pipeline(TextEncoder(2), ConsensusLabelRanker()).fit(TABLE, ranks)
    prefero.save(model, tmp_path / "m.prefero")
    loaded = prefero.load(tmp_path / "m.prefero")
    assert_allclose(loaded[0].transform(TABLE), model[0].transform(TABLE))


def test_cells_of_pandas_that_hold_nothing_are_empty_texts():
    encoder = TextEncoder(n_components=2).fit(TABLE)
    gaps = pd.DataFrame({"said": pd.Series(["red tea", pd.NA, None], dtype="string")})
    plain = pd.DataFrame({"said": ["red tea", "", ""]})
    assert_allclose(encoder.transform(gaps), encoder.transform(plain))
