"""What all figures share."""

import pytest

from neumann_pinn.figures.look import panels, save, stamp


@pytest.mark.parametrize("words", ["Protocol paper", "Protocol name: 1,000,000 iterations, " * 12])
def test_a_stamp_stays_on_its_figure(words, tmp_path):
    figure, _ = panels(3, 2.1)
    stamp(figure, words)
    figure.canvas.draw()
    (text,) = figure.texts
    extent = text.get_window_extent()
    assert text.get_text().replace("\n", " ") == words.strip()
    assert figure.bbox.x0 <= extent.x0
    assert extent.x1 <= figure.bbox.x1
    save(figure, [tmp_path / "figure.png"])
