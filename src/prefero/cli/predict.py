"""prefero predict: the order of the labels for new instances."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from prefero import _model_inputs, _prediction
from prefero._files import refuse_overwriting
from prefero._pipelines import at_final_step, final_step
from prefero.cli import options
from prefero.cli.console import say
from prefero.cli.models import say_unseen
from prefero.cli.tables import read_in_parts, writing

EXAMPLES = (
    "prefero predict model.prefero new.csv",
    "prefero predict model.prefero new.csv --output order --top 3 --expected-tau --keep id",
    "cat new.csv | prefero predict model.prefero - --output scores --json",
)


def predict(
    model: options.ModelFile,
    data: options.NewDataFile,
    output: Annotated[_prediction.OutputFormat | None, typer.Option(show_default=False)] = None,
    top: Annotated[int | None, typer.Option(min=1)] = None,
    expected_tau: Annotated[bool, typer.Option("--expected-tau")] = False,
    top_set: Annotated[float | None, typer.Option(min=0.001, max=0.999)] = None,
    keep: options.KeepOption = None,
    label_table: options.LabelTableOption = None,
    out: options.OutOption = None,
    safe_csv: Annotated[bool, typer.Option("--safe-csv")] = False,
    key_file: options.KeyFileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Predict the order of the labels for new instances.

    Parameters
    ----------
    output : FORMAT
        ranks (1 is best) or scores (larger is better), one column per label; expected, the scores
        to expect in the unit of the training, with 90 % intervals and the expected regret of the
        first label, for models trained with scores; buckets, ranks with ties; order, text
        'b > a > c'; pairs, one row per pair, with its probability if the model is calibrated.
        Models that predict relevant labels also: relevant, 1 or 0 per label; probabilities, how
        likely each label is relevant; and calibrated, text '[b > a][c]' with the relevant labels
        first, their default. Otherwise ranks.
    top : K
        Leave out all but the first K labels.
    expected_tau
        Add the expected Kendall tau of each row.
    top_set : ERROR
        Add the labels that may be first, for models that auto trained. The first label is among
        them with probability at least 1 - 2 ERROR, and usually about 1 - ERROR, for rows like
        those of the training (cross-conformal).
    safe_csv
        Put an apostrophe before texts that a spreadsheet would run as formulas.
    """
    if as_json and out is not None and out.suffix != ".json":
        raise typer.BadParameter(f"--json: {str(out)!r} names another format.")
    refuse_overwriting(out, data, model)
    trained = _prediction.load_ranker(model, options.read_key(key_file))
    ranker = final_step(trained)
    output = _output_for(ranker, output)
    uncertainty = _prediction.UncertaintyOptions(expected_tau, top_set)
    if label_table is not None:
        from prefero.cli.label_tables import other_labels

        ranker = other_labels(ranker, label_table)
    _refuse_uncertainty(ranker, uncertainty, model)
    if output is _prediction.OutputFormat.BUCKETS and not hasattr(ranker, "predict_buckets"):
        raise typer.BadParameter(
            f"--output buckets: the model in {model} predicts no ties: it needs a calibrated "
            "model that ranks labels."
        )
    n_rows = 0
    unseen: dict[str, Counter[str]] = {}
    with writing(out or Path("-"), as_json=as_json, safe_csv=safe_csv) as write:
        for table in read_in_parts(data, _prediction.rows_per_chunk(ranker, output, uncertainty)):
            X = _model_inputs.new_features(trained, table)
            for column, names in _model_inputs.unseen_categories(trained, X).items():
                unseen.setdefault(column, Counter()).update(names)
            X = at_final_step(trained, X)[1]
            write(_prediction.prediction_table(ranker, X, table, output, top, keep, uncertainty))
            n_rows += len(table.frame)
    say_unseen(unseen)
    if output is _prediction.OutputFormat.SCORES:
        say("Scores order the labels of a row; they are not in the unit of the training data.")
    if out is not None:
        say(f"Wrote the {output} of {n_rows} predictions to {out}.")


def _refuse_uncertainty(
    ranker: Any, uncertainty: _prediction.UncertaintyOptions, model: Path
) -> None:
    """Refuse what a model cannot say about its uncertainty."""
    if uncertainty.expected_tau and not hasattr(ranker, "predict_expected_tau"):
        raise typer.BadParameter(
            f"--expected-tau: the model in {model} holds no probabilities: it was trained with "
            "calibrate=false, or on too few rankings to learn them."
            if hasattr(ranker, "calibrate") or not hasattr(ranker, "predict_calibrated")
            else "--expected-tau is for models that rank labels without predicting relevant ones."
        )
    if uncertainty.top_set is not None and not hasattr(ranker, "predict_top_set"):
        raise typer.BadParameter("--top-set needs a model that --model auto trained.")


def _output_for(ranker: Any, asked: _prediction.OutputFormat | None) -> _prediction.OutputFormat:
    """Return the format asked for, or the one that shows all that a model predicts."""
    multilabel = hasattr(ranker, "predict_calibrated")
    if asked is None:
        return _prediction.OutputFormat.CALIBRATED if multilabel else _prediction.OutputFormat.RANKS
    if asked is _prediction.OutputFormat.EXPECTED and not hasattr(ranker, "predict_scores"):
        raise typer.BadParameter(
            "--output expected: the model was not trained with scores; train it with --format "
            "scores and --model auto or forest."
        )
    if asked in _prediction.RELEVANCE_FORMATS and not multilabel:
        raise typer.BadParameter(
            f"--output {asked}: the model does not predict relevant labels; train it with "
            "--format relevance or calibrated."
        )
    return asked
