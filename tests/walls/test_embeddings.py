import itertools
import math

import pytest
import torch
from nested_autograd import derivative
from scipy import stats

from neumann_pinn import Axis, Cosine, Flat, Fourier, Free, Identity, Neumann, Waves, method


@pytest.mark.parametrize(
    "embedding",
    [
        Identity(),
        Fourier((1.0, 3.7, -20.2)),
        Cosine((1, 4, 50)),
        Flat((4, 1, 50)),
        Flat((1, 2.5), Axis(0.0, 1.0, Free(), Neumann())),
        Waves((1, 3)),
    ],
    ids=repr,
)
def test_derivatives_equal_autograd_of_the_definition(embedding):
    x = torch.rand(9, dtype=torch.float64).requires_grad_()
    angles = [math.pi * b * x for b in embedding.frequencies]
    if isinstance(embedding, Cosine):
        if len(embedding.axis.flat) == 1:
            angles = [math.pi / 2 * b * (1 - x) for b in embedding.frequencies]
        rows = [torch.cos(a) for a in angles]
        if isinstance(embedding, Flat):
            rows.append(torch.sin(angles[embedding.frequencies.index(1)]) ** 3)
    elif isinstance(embedding, Waves):
        rows = [f(2 * a) for a in angles for f in (torch.cos, torch.sin)]
    elif isinstance(embedding, Fourier):
        rows = [f(a) for a in angles for f in (torch.cos, torch.sin)]
    else:
        rows = [1 * x]
    value, first, second = (
        part.expand(embedding.size, 9) for part in embedding.features(x.detach())
    )
    for i, row in enumerate(rows):
        slope = derivative(row, x)
        torch.testing.assert_close(value[i], row, rtol=0, atol=1e-12)
        torch.testing.assert_close(first[i], slope, rtol=0, atol=1e-10)
        curvature = derivative(slope, x) if slope.grad_fn else torch.zeros_like(x)
        torch.testing.assert_close(second[i], curvature, rtol=0, atol=1e-7)


def test_a_cosine_embedding_is_flat_at_both_walls_even_from_float32():
    first = Cosine.sample(50, 20, 0).features(torch.tensor([0.0, 1.0])).first
    assert first.dtype == torch.float64
    assert (first == 0).all()


def test_fourier_frequencies_start_with_one_and_are_normal():
    drawn = [Fourier.sample(50, 20, seed).frequencies for seed in range(40)]
    assert all(len(f) == 25 and f[0] == 1.0 for f in drawn)
    others = [b for f in drawn for b in f[1:]]
    assert stats.kstest(others, stats.norm(0, 20).cdf).pvalue > 0.01


def test_cosine_frequencies_are_distinct_whole_numbers_with_one_among_them():
    for seed in range(40):
        frequencies = Cosine.sample(50, 20, seed).frequencies
        assert frequencies[0] == 1
        assert len(set(frequencies)) == 50
        assert all(isinstance(b, int) and b > 0 for b in frequencies)


def test_cosine_frequencies_follow_the_rounded_normal():
    """The second frequency is |N(0, 20)| rounded, with 0 and 1 drawn again."""
    drawn = [Cosine.sample(2, 20, seed).frequencies[1] for seed in range(4000)]
    edges = [2, 6, 11, 16, 21, 31, 41, 1000]
    normal = stats.norm(0, 20)
    below = [2 * normal.cdf(edge - 0.5) for edge in edges]
    mass = [high - low for low, high in itertools.pairwise(below)]
    observed = [sum(low <= b < high for b in drawn) for low, high in itertools.pairwise(edges)]
    expected = [len(drawn) * m / sum(mass) for m in mass]
    assert sum(observed) == len(drawn)
    assert stats.chisquare(observed, expected).pvalue > 0.01


def test_draws_do_not_depend_on_other_draws():
    before = Cosine.sample(20, 20, 5)
    torch.manual_seed(123)
    method("vanilla_fourier50")
    assert Cosine.sample(20, 20, 5) == before
    assert method("cosine20").embeddings == method("cosine20").embeddings
    assert method("vanilla_fourier20").embeddings != method("existing_fourier20").embeddings


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cosine((2, 3)), "add 1"),
        (lambda: Cosine((1, 2.5)), "whole numbers"),
        (lambda: Cosine((1, 0)), "positive numbers"),
        (lambda: Cosine((1, 4, 4)), "only once"),
        (lambda: Cosine.sample(500, 20, 0), "larger std"),
        (lambda: Fourier.sample(21, 20, 0), "even number"),
        (lambda: method("cosin20"), "cosineN"),
    ],
)
def test_bad_embeddings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
