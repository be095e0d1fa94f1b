"""Equations on intervals and boxes, their exact solutions, and the points to train on."""
