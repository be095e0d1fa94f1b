"""Training: engine, optimizers, the loop with its checkpoints, and evaluation."""
