"""Labels with features: rank labels, even ones never seen, by an orderer of pairs."""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_array, gen_batches, get_tags
from sklearn.utils.validation import check_is_fitted

from prefero._docs import documented
from prefero._pipelines import final_step
from prefero._sklearn import HasMethods, StrOptions
from prefero._state import Array, FittedState, Model, Names, State
from prefero._typing import Mask, Values
from prefero.base import BaseLabelRanker, OrdererMixin
from prefero.ordering import BoostingOrderer, ExpectedRankOrderer
from prefero.rankings import bucket_positions, strict_ranks

# Entries of the arrays (pairs x features) that one step of prediction may hold.
_BLOCK_ENTRIES = 2**22


def _joins(products: bool | str, orderer: Any) -> bool:
    """Whether pairs are described by products, for an orderer of them."""
    if products != "auto":
        return bool(products)
    return not isinstance(final_step(orderer), BoostingOrderer)


def _orders_pairs(orderer: Any, state: State) -> bool:
    n, k = state.size("n_features"), state.size("n_label_features")
    width = k + n * k if _joins(state.values["products"], orderer) else n + k
    return isinstance(final_step(orderer), OrdererMixin) and orderer.n_features_in_ == width


@documented(
    labels="""
        labels : array-like or DataFrame of shape (n_others, n_label_features), optional
            Features of the labels to rank, which need not have been there in training; the
            index of a table gives their names. By default the labels of training.
        """
)
class LabelFeatureRanker(BaseLabelRanker):
    """Rank labels by their features and those of the instance, by any orderer of objects.

    A pair of an instance and a label is an object; the ranking of an instance is a sample order of
    its pairs. What an orderer learns of them holds for labels too that no training ranking held:
    ``predict(X, labels=Z)`` ranks any set of labels of which the features are known.

    Parameters
    ----------
    orderer : orderer, default=None
        Learns to order pairs; ``ExpectedRankOrderer()`` if None.
    label_features : array-like or DataFrame of shape (n_labels, n_label_features), optional
        Features of the labels, in the order of the columns of y, or a table whose index holds
        their names. By default each label has one of its own, and no other label can be ranked.
    products : bool or "auto", default="auto"
        Whether a pair is described by the features of its label and their products with those
        of the instance, or by both kinds side by side. A linear orderer needs products, for
        what is the same for all labels cannot order them; ``"auto"`` is True but for
        ``BoostingOrderer``, whose trees join features by themselves.
    calibrate : bool, default=True
        Whether pair probabilities are learned too, which takes three more fits.

    Attributes
    ----------
    orderer_ : orderer
        The fitted orderer of pairs.
    label_features_ : ndarray of shape (n_labels, n_label_features)
        The features of the labels of training.
    label_feature_names_in_ : ndarray of shape (n_label_features,), dtype object
        Their names, if ``label_features`` is a table whose columns are named by texts; the
        columns of other tables of labels are then found by their names.

    Notes
    -----
    Features are standardised before they are multiplied. Weights of rows must be whole numbers:
    orderers know no others, and a row of weight 2 is there twice.

    References
    ----------
    Schäfer & Hüllermeier (2018), Dyad ranking using Plackett-Luce models based on joint feature
    representations, Machine Learning 107.

    Examples
    --------
    Each person likes what is near; a fourth place is ranked though nobody ever ranked it.

    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20)[:, None]
    >>> places = np.array([[-1.0], [0.2], [1.0]])
    >>> Y = np.argsort(np.argsort(-X * places.T, axis=1), axis=1) + 1
    >>> ranker = LabelFeatureRanker(label_features=places).fit(X, Y)
    >>> ranker.predict([[0.9]])
    array([[3, 2, 1]])
    >>> ranker.predict([[0.9]], labels=[[-1.0], [2.0], [1.0]])
    array([[3, 1, 2]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "orderer": [HasMethods(["fit", "predict"]), None],
        "label_features": ["array-like", None],
        "products": ["boolean", StrOptions({"auto"})],
        "calibrate": ["boolean"],
    }

    _fitted_state: ClassVar[FittedState] = {
        "label_features_": Array("f8", "n_labels", "n_label_features"),
        "label_feature_names_in_": Names("n_label_features", optional=True),
        "label_center_": Array("f8", "n_label_features"),
        "label_scale_": Array("f8", "n_label_features"),
        "center_": Array("f8", "n_features"),
        "scale_": Array("f8", "n_features"),
        "orderer_": Model("predict", n_features=None, rule=("an orderer of pairs", _orders_pairs)),
    }

    orderer_: Any
    label_features_: Values

    def __init__(
        self,
        orderer: Any = None,
        label_features: Any = None,
        *,
        products: bool | Literal["auto"] = "auto",
        calibrate: bool = True,
    ) -> None:
        self.orderer = orderer
        self.label_features = label_features
        self.products = products
        self.calibrate = calibrate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._blank()).input_tags.allow_nan
        return tags

    def _blank(self) -> Any:
        return ExpectedRankOrderer() if self.orderer is None else clone(self.orderer)

    def _unseen(self, ranks: Values) -> Mask:
        """Features tell where a label belongs that no row ranks."""
        if self.label_features is None:
            return super()._unseen(ranks)
        return np.zeros(ranks.shape[1], dtype=bool)

    def _fit(self, X: Values, ranks: Values, weight: Values) -> None:
        Z = self.label_features_ = self._given_features()
        names = _column_names(self.label_features)
        if names is not None:
            self.label_feature_names_in_ = names
        times = weight.astype(np.int64)
        if (times != weight).any():
            row = int(np.argmax(times != weight))
            raise ValueError(
                f"sample_weight[{row}] is {weight[row]:g}, but orderers know no weights: give "
                "whole numbers, how often a row is there, or none."
            )
        rows = np.repeat(np.arange(len(X)), times)
        X, places = X[rows], bucket_positions(ranks[rows])
        self.center_, self.scale_ = _standard(X)
        self.label_center_, self.label_scale_ = _standard(Z)
        instances, which = np.nonzero(~np.isnan(places))
        orderer = self._blank()
        self.orderer_ = orderer.fit(
            self._pairs(X, Z, orderer)[instances * len(Z) + which],
            places[instances, which],
            qid=instances,
        )

    def _given_features(self) -> Values:
        """The features of the labels in their order, or a sentence about what is wrong."""
        if self.label_features is None:
            return np.eye(len(self.labels_))
        given = self.label_features
        names = getattr(given, "index", None)
        if names is not None and not np.array_equal(self.labels_, np.arange(len(self.labels_))):
            lost = [name for name in self.labels_ if name not in names]
            if lost:
                raise ValueError(f"label_features have no row for the label {lost[0]!r}.")
            given = given.loc[list(self.labels_)]
        features = _check_labels(given, "label_features")
        if len(features) != len(self.labels_):
            raise ValueError(
                f"label_features have {len(features)} rows, but y has {len(self.labels_)} labels: "
                "give one row per label, in the order of the columns, or a table with their names."
            )
        return features

    def _plain_parameters(self) -> dict[str, Any]:
        """The table of the labels, in their order, as an array."""
        if self.label_features is None or not hasattr(self, "label_features_"):
            return {}
        return {"label_features": self.label_features_}

    def _pairs(self, X: Values, Z: Values, orderer: Any) -> Values:
        """Describe each instance with each label, an instance after another, for an orderer."""
        x = (X - self.center_) / self.scale_
        z = (Z - self.label_center_) / self.label_scale_
        both = np.tile(z, (len(x), 1))
        if not _joins(self.products, orderer):
            return np.hstack([np.repeat(x, len(z), axis=0), both])
        products = (x[:, None, :, None] * z[None, :, None, :]).reshape(len(both), -1)
        return np.hstack([both, products])

    def _scores(self, X: Values, Z: Values) -> Values:
        width = (X.shape[1] + 1) * (Z.shape[1] + 1)
        rows = max(1, _BLOCK_ENTRIES // (len(Z) * width))
        scores = np.empty((len(X), len(Z)))
        for part in gen_batches(len(X), rows):
            pairs = self._pairs(X[part], Z, self.orderer_)
            if hasattr(self.orderer_, "decision_function"):
                found = self.orderer_.decision_function(pairs)
            else:
                qid = np.repeat(np.arange(len(pairs) // len(Z)), len(Z))
                found = -self.orderer_.predict(pairs, qid=qid).astype(np.float64)
            scores[part] = np.reshape(found, (-1, len(Z)))
        return scores

    def _decision(self, X: Values) -> Values:
        return self._scores(X, self.label_features_)

    def _other_labels(self, labels: Any) -> Values:
        check_is_fitted(self)
        if self.label_features is None:
            raise ValueError(
                "The ranker was trained without label_features: it can rank no other labels."
            )
        features = _check_labels(self._in_order(labels), "labels")
        if features.shape[1] != self.label_features_.shape[1]:
            raise ValueError(
                f"labels have {features.shape[1]} features, but label_features had "
                f"{self.label_features_.shape[1]}."
            )
        return features

    def _in_order(self, labels: Any) -> Any:
        """The columns of a table in the order of training, found by their names."""
        known, there = getattr(self, "label_feature_names_in_", None), _column_names(labels)
        if known is None or there is None:
            return labels
        lost = [name for name in known if name not in there]
        if lost:
            raise ValueError(f"labels lack the feature {lost[0]!r} that label_features had.")
        return labels[list(known)]

    def decision_function(self, X: Any, labels: ArrayLike | None = None) -> Values:
        """Return scores whose descending order is the predicted order.

        Parameters
        ----------
        %(X)s
        %(labels)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples, n_others)
            Scores, larger is better.
        """
        if labels is None:
            return super().decision_function(X)
        features = self._other_labels(labels)
        return self._scores(self._validate_X(X, reset=False), features)

    def predict(self, X: Any, labels: ArrayLike | None = None) -> NDArray[np.int64]:
        """Predict the rank of every label.

        Parameters
        ----------
        %(X)s
        %(labels)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples, n_others), dtype int64
            A permutation of 1, 2, ... in each row; 1 is best.
        """
        return strict_ranks(self.decision_function(X, labels))

    def predict_order(
        self, X: Any, top: int | None = None, labels: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Predict the labels by name, best first.

        Parameters
        ----------
        %(X)s
        top : int, optional
            How many labels to return; all by default.
        %(labels)s

        Returns
        -------
        ndarray of shape (n_samples, top)
            Label names; of other labels the index of the table, or their numbers.
        """
        if labels is None:
            return super().predict_order(X, top)
        order = np.argsort(self.predict(X, labels), axis=1)
        names = getattr(labels, "index", range(order.shape[1]))
        return np.asarray(names)[order[:, :top]]


def _column_names(features: Any) -> NDArray[np.object_] | None:
    """The names of the columns of a table; None if there are none, or they are no texts."""
    names = list(getattr(features, "columns", []))
    named = bool(names) and all(isinstance(name, str) for name in names)
    return np.array(names, dtype=object) if named else None


def _check_labels(features: Any, name: str) -> Values:
    return check_array(features, dtype=np.float64, order="C", input_name=name)


def _standard(values: Values) -> tuple[Values, Values]:
    """Means and standard deviations by column; 0 and 1 where all is missing or alike."""
    known = ~np.isnan(values)
    count = np.maximum(known.sum(axis=0), 1)
    center = np.sum(values, axis=0, where=known) / count
    scale = np.sqrt(np.sum((values - center) ** 2, axis=0, where=known) / count)
    return center, np.where(scale > 0, scale, 1.0)
