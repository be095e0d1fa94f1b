"""Figures are drawn without a screen here, and closed after each test."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")
