"""What the scripts of the papers make of their figures, on made-up ones."""

import brinker2007
import brinker2007_claims
import brinker2007_figure
import dekel2003
import dekel2003_folds
import kamishima2006
import kamishima2006_costs
import kamishima2006_curves
import kamishima2006_vectors
import numpy as np
import pytest

from prefero.evaluation import ResultTable


def test_vectors_are_turned_to_one_side_as_printed():
    direction = np.array([0.6, -0.8, 0.0])
    signs = np.array([1, -1, -1, 1, -1])
    vectors = signs[:, None] * direction + 0.01 * np.arange(15).reshape(5, 3)
    turned = kamishima2006_vectors.against(vectors, direction)
    np.testing.assert_array_equal(turned, signs < 0)
    np.testing.assert_array_equal(kamishima2006_vectors.against(vectors, -direction), signs > 0)


def test_a_claim_holds_where_all_sets_agree():
    methods = {name for pair in brinker2007_claims.ABOVE for name in pair}
    level = dict.fromkeys(methods, 0.2)
    means = [
        level | {"k-NN*": 0.3 + k / 100, "CRPC-POLY": 0.3 + k / 100 + (-1) ** k * (k + 1) / 1000}
        for k in range(8)
    ]
    seconds = [level | {"k-NN": 0.1 - k / 100} for k in range(8)]
    found = {row["claim"]: row for row in brinker2007_claims.claims_table(means, (seconds,) * 2)}
    assert found["k-NN* above k-NN"]["met"] == "yes"
    assert found["k-NN* above k-NN"]["first ahead on"] == "8 of 8 sets"
    assert found["CRPC-LIN above BR-LIN"]["met"] == "no"
    assert found["k-NN* level with CRPC-POLY"]["met"] == "yes"
    assert found["k-NN faster than BR-LIN (seconds)"]["met"] == "yes"


def test_growth_is_the_exponent():
    seconds = {
        (name, quantity): [1e-6 * size**power for size in sizes]
        for name in kamishima2006_costs.LEARNERS
        for power, (quantity, sizes) in enumerate(kamishima2006_costs.SIZES.items(), start=1)
    }
    for row in kamishima2006_costs.growth_table(seconds):
        assert (row["N"], row["L"], row["K"]) == ("1.0", "2.0", "3.0")


def test_places_beside_table_3():
    rows = [
        {"orders": f"{n}:{m}", "dimensions": k, "KRCDR, shortened tests": 0.1 * k}
        for n, m in kamishima2006_curves.RCDR_SIZES["sushi"]
        for k in (1, 2, 3)
    ]
    rivals = {(name, (500, 10)): rho for name, rho in [("a", 0.5), ("b", 0.2)]}
    rivals |= {("a", size): 0.1 for size in [(100, 5), (100, 2)]}
    found = kamishima2006_curves.places(ResultTable(rows), rivals)
    assert [row["place"] for row in found] == [2, 1, 1]
    assert found[0]["best of Table 3"] == "a"


def test_a_path_ends_when_the_error_stays_above_its_least(monkeypatch):
    errors = iter([0.5, 0.6, 0.55, 0.52, 0.3, 0.31, 0.32, 0.0])
    monkeypatch.setattr(dekel2003_folds, "ranking_error", lambda *_: next(errors))

    class Ranker:
        def set_params(self, **parameters):
            return self

        def fit(self, X, y):
            return self

        def decision_function(self, X):
            return X

    method = dekel2003_folds.Method(Ranker(), "alpha", tuple(range(8)), "edges")
    X = np.zeros((4, 1))
    assert dekel2003_folds.choose(X, X, method, [0], [1, 2, 3]) == 4
    assert next(errors) == 0.0


def errors_of_losses(**bases):
    return ResultTable(
        {"dataset": "d", "ranker": name, "repetition": 0, "fold": fold}
        | dict.fromkeys(dekel2003.NAMES.values(), base + fold / 1000 * (1 if name == "Dom" else 2))
        for name, base in bases.items()
        for fold in range(5)
    )


def test_other_losses_less_domination():
    row = dekel2003.domination_table([("lbfgs", errors_of_losses(Dom=0.2, dis=0.3))])[0]
    behind, p_value = row["dis - Dom"].removesuffix(")").split(" (p ")
    assert float(behind) == pytest.approx(0.102)
    assert float(p_value) < 0.01
    assert (row[dekel2003.AHEAD], row[dekel2003.BEHIND]) == ("none", "dis")


def test_what_the_differences_tell():
    found = dekel2003.domination_table([("boosting", errors_of_losses(Dom=0.2, dis=0.3, dom=0.1))])
    every = "0-1, dis, Dom, dom"
    less = ("yes", f"d: on {every} of the four errors, on {every} at 5 %")
    assert dekel2003.best_on(found, ("dis",)) == less
    assert dekel2003.best_on(found, ("dis",), surely=True) == less
    assert dekel2003.best_on(found, ("dis", "dom")) == (
        "no",
        "d: on none of the four errors, on none at 5 %",
    )
    text = dekel2003.told(found)
    assert text.startswith("- d, boosting, ahead of domination: dom on 0-1; dom on dis;")
    assert "Behind it: dis on 0-1; dis on dis; dis on Dom; dis on dom." in text


def test_without_differences_nothing_is_told():
    none = dekel2003.domination_table([])
    assert dekel2003.told(none).startswith("- nothing")
    assert not any("domination" in place for place, *_ in dekel2003.of_the_paper(none, []))


def test_the_printed_errors_are_as_high_as_themselves():
    rows = [
        {"dataset": "d", "ranker": loss} | {e: theirs[loss, e] for e in dekel2003.NAMES.values()}
        for theirs in [dekel2003.printed_errors()]
        for loss in dekel2003.NAMES.values()
    ]
    words = dekel2003.level(ResultTable(rows))
    assert words.startswith("d: 1.0 to 1.0 of the printed errors")
    assert words.endswith("1.0 on 0-1, 1.0 on dis, 1.0 on Dom, 1.0 on dom")


def test_claims_that_fail_are_named_with_how():
    rows = [
        {"claim": "a above b", "mean difference": 0.1, "p": 0.001, "met": "yes"},
        {"claim": "a above c", "mean difference": 0.01, "p": 0.2, "met": "no"},
        {"claim": "a above d", "mean difference": -0.02, "p": 0.01, "met": "no"},
        {"claim": "a level with e", "mean difference": 0.03, "p": 0.01, "met": "no"},
    ]
    assert brinker2007.missed(ResultTable(rows)) == (
        "What fails: not level: a level with e (+0.030, p 0.010); the other way round: "
        "a above d (-0.020, p 0.010); too close to tell: a above c (+0.010, p 0.200)."
    )
    assert brinker2007.missed(ResultTable(rows[:1])) == "None fails."


def test_the_constant_order_is_that_of_the_mean_ranks():
    X, relevance = np.zeros((3, 1)), np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1.0]])
    ranks = np.array([[1, 2, 3], [1, 2, 3], [2, 1, 3.0]])
    constant = brinker2007.ConstantOrder().fit(X, relevance, ranks)
    np.testing.assert_array_equal(constant.predict_calibrated(X)[:, 0], 1)
    np.testing.assert_array_equal(constant.predict_calibrated(X)[:, 2], 4)
    assert 0 < constant.score(X, relevance, ranks) <= 1


def gap_losses(*rows):
    heads = [f"p={gap}" for gap in brinker2007_figure.GAPS]
    return ResultTable(
        {"k": 4 * i + 1} | dict(zip(heads, row, strict=True)) for i, row in enumerate(rows)
    )


def test_whether_the_loss_falls_with_the_gap():
    single, falling = [0.24] * 8, [0.25 - 0.005 * step for step in range(8)]
    met, words = brinker2007_figure.falls(gap_losses(single, falling))
    assert met == "yes"
    assert words.startswith("p=128 below p=1 at 1 of 1 sizes above one")
    assert "in 7 of 7 steps" in words
    assert brinker2007_figure.falls(gap_losses(single, falling[::-1]))[0] == "no"


def test_the_level_of_the_figure_is_that_of_its_tables():
    kinds = ResultTable([{"features": "all", "k=1": 0.24}, {"features": "some", "k=1": 0.27}])
    words = brinker2007_figure.level(gap_losses([0.24] * 8, [0.21] * 8), kinds)
    assert words.startswith("Ours reach from 0.21 to 0.24.")
    assert "with all 0.24, with some 0.27" in words
    assert words.endswith("nearest to the upper end are some.")


def curve(size, first, PCA, ORIG):
    return [
        {"orders": size, "dimensions": k, "KRCDR": rho, "SRCDR": rho, "ORIG": ORIG}
        | {"SRCDR, deflated": rho + 0.01, "PCA": other}
        for k, (rho, other) in enumerate(zip(first, PCA, strict=True), start=1)
    ]


def test_what_is_concluded_from_the_curves_is_judged_by_them():
    sushi = ResultTable(
        curve("9:2", [0.3, 0.2], [0.1, 0.25], 0.1) + curve("9:9", [0.3] * 2, [0.1] * 2, 0.4)
    )
    text = ResultTable(curve("9:2", [0.3] * 2, [0.1] * 2, 0.2))
    alike, pca, original = kamishima2006_curves.verdicts(sushi, text)
    assert alike[2] == "yes"
    assert pca[2] == "no"
    assert "SUSHI: at every size with 1; text" in pca[3]
    assert "text: at every size with 1, 2" in pca[3]
    assert original[2] == "partly"
    assert "above: SUSHI 9:2 (+0.200), text 9:2 (+0.100); below: SUSHI 9:9 (-0.100)" in original[3]
    words = kamishima2006_curves.failed([alike, pca, original])
    assert "alike" not in words
    assert words.startswith("**'RCDRs predict better than PCA' does not hold everywhere:** SUSHI")
    assert kamishima2006_curves.failed([alike]) == "All of it holds."
    words = kamishima2006_curves.deflation(sushi, text)
    assert words.startswith("SUSHI 9:2 +0.010 (farthest +0.010), SUSHI 9:9 +0.010")


def test_places_are_met_where_they_are_the_printed_ones():
    rows = [{"orders": "9:9", "place": 1, "place (paper)": 1}]
    assert kamishima2006_curves.places_met(ResultTable(rows))[2] == "yes"
    rows += [{"orders": "9:2", "place": 2, "place (paper)": 1}]
    assert kamishima2006_curves.places_met(ResultTable(rows))[2:] == (
        "partly",
        "9:9: place 1, printed 1, 9:2: place 2, printed 1",
    )


def test_table_3_is_met_where_it_is_near_the_printed_one():
    theirs = kamishima2006.printed_rho()
    scores = {
        (name, (n, length)): np.full((2, 3), rho + (name == "Cohen") * 0.1)
        for (name, n, length), rho in theirs.items()
    }
    err, rest = kamishima2006.table_3_met(scores)
    assert err[2] == "yes"
    assert rest[2] == "partly"
    assert "9 of 12 within" in rest[3]
    assert "farthest Cohen" in rest[3]
    constant = {
        (kamishima2006.CONSTANT, size): np.zeros((2, 3)) for size in kamishima2006.SUSHI_SIZES
    }
    words = kamishima2006.ahead_of_constant(scores | constant)
    assert words.startswith("the best, Cohen, is 0.464 ahead of it at 500:10")
