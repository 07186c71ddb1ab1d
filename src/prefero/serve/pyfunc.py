"""Model files as MLflow loads them: nothing is unpickled.

``mlflow.pyfunc.save_model(path, loader_module="prefero.serve.pyfunc", data_path="model.prefero")``
puts a model file into MLflow; whatever serves or scores MLflow's models then asks the class here.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefero._model_inputs import as_input, feature_names
from prefero._prediction import load_ranker

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RankingFunction"]


class RankingFunction:
    """A trained ranker of labels that predicts for tables.

    Parameters
    ----------
    model : estimator
        A fitted label or multilabel ranker, or a pipeline that ends in one.

    Examples
    --------
    >>> import pandas as pd
    >>> from prefero import ConsensusLabelRanker
    >>> ranks = pd.DataFrame([[1, 2], [1, 2]], columns=["tea", "milk"])
    >>> function = RankingFunction(ConsensusLabelRanker().fit([[0.0], [1.0]], ranks))
    >>> function.predict(pd.DataFrame([[0.5]]))
       tea  milk
    0    1     2
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, model_input: "pd.DataFrame", params: Any = None) -> "pd.DataFrame":
        """Predict the ranks of the labels, 1 is best.

        Parameters
        ----------
        model_input : DataFrame of shape (n_samples, n_features)
            Instances; the features are found by their names.
        params : object, optional
            Ignored.

        Returns
        -------
        DataFrame of shape (n_samples, n_labels)
            One column per label.
        """
        import pandas

        names = feature_names(self.model)
        X = model_input if names is None else as_input(self.model, model_input[names])
        ranks = getattr(self.model, "predict_ranks", self.model.predict)(X)
        labels = [str(label) for label in self.model.labels_]
        return pandas.DataFrame(ranks, columns=labels, index=model_input.index)


def _load_pyfunc(path: str) -> RankingFunction:
    """Load a model file, as MLflow asks for it."""
    return RankingFunction(load_ranker(Path(path)))
