import pytest

from neumann_pinn.training import history


def test_a_history_survives_the_disk_to_the_last_digit(tmp_path):
    rows = [[0, 0.1 + 0.2, 1 / 3, 1e-30, 0.0, 2 / 3, 2 / 3, 0.5, 0.7, 0.7]]
    frame = history.to_frame(rows)
    history.write(frame, tmp_path / "deep" / "history.csv")
    assert history.read(tmp_path / "deep" / "history.csv").equals(frame)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["history.csv"]


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xff\xfe\x00garbage"])
def test_what_is_not_a_history_is_refused_by_name(tmp_path, content):
    path = tmp_path / "history.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"history\.csv: not a history.*delete it"):
        history.read(path)
