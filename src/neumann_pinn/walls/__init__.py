"""Axes, embeddings of coordinates, and the layers that hold conditions at walls."""
