"""A method that diverges is shown as diverged; all else goes on."""

import pandas as pd
from studies import TINY

HOPELESS = {
    "label": "Hopeless $method$",
    "constraint": "none",
    "embedding": {"kind": "fourier", "frequencies": [1, 1e25]},
}


def test_a_diverged_method_is_shown_as_such_and_the_others_are_unaffected(again):
    results = again.folder / TINY
    before = pd.read_csv(results / "accuracy.csv").drop(columns="seconds")
    again.config["methods"]["hopeless"] = HOPELESS
    again.configure(again.config)
    tables = [f"{TINY}/tables/{kind}_fixed_time.tex" for kind in ("accuracy", "comparison")]
    figures = [f"{TINY}/figures/{name}.png" for name in ("improvement_fixed_time", "maps_low")]
    said = again.snakemake("--cores", "2", *tables, *figures, f"{TINY}/pages")
    assert "low hopeless, replicate 0: diverged" in said.stdout + said.stderr
    accuracy = pd.read_csv(results / "accuracy.csv").drop(columns="seconds")
    others = accuracy[accuracy["method"] != "hopeless"].reset_index(drop=True)
    hopeless = accuracy[accuracy["method"] == "hopeless"]
    fixed = others["clock"] == "fixed_iterations"
    pd.testing.assert_frame_equal(
        others[fixed].reset_index(drop=True),
        before[before["clock"] == "fixed_iterations"].reset_index(drop=True),
    )
    assert (hopeless["status"] == "diverged").all()
    assert hopeless["error"].isna().all()
    assert "diverged" in (results / "tables/accuracy_fixed_time.tex").read_text()
    assert "diverged" in (results / "tables/comparison_fixed_time.tex").read_text()
    assert "diverged" in (results / "pages/low/hopeless/0.html").read_text()
