"""The progress of a run: a bar in the terminal, a log line every half minute, a file."""

import json
import logging
import sys
import time
from pathlib import Path

from tqdm import tqdm

from neumann_pinn.files import write_whole
from neumann_pinn.training.history import Row

log = logging.getLogger(__name__)

LOG_SECONDS = 30.0
FILE_SECONDS = 1.0


class Progress:
    """The progress of one run, shown after each evaluation."""

    def __init__(self, iterations: int, folder: Path | None) -> None:
        self.iterations = iterations
        self.file = folder and folder / "progress.json"

    def start(self, iteration: int) -> None:
        """Start at an iteration."""
        self.bar = tqdm(
            total=self.iterations, initial=iteration, unit="it", disable=not sys.stderr.isatty()
        )
        self.first = self.shown = iteration
        self.started = self.logged = self.written = time.monotonic()

    def show(self, row: Row) -> None:
        """Show an evaluation."""
        error = row.error_at_best_loss
        self.bar.set_postfix_str(f"loss {row.loss:.1e}, error {error:.1e}", refresh=False)
        self.bar.update(row.iteration - self.shown)
        self.shown = row.iteration
        now = time.monotonic()
        rate = max(row.iteration - self.first, 1) / (now - self.started)
        left = (self.iterations - row.iteration) / rate
        if self.file and now - self.written >= FILE_SECONDS:
            self.written = now
            state = {
                "iteration": row.iteration,
                "iterations": self.iterations,
                "loss": row.loss,
                "error": error,
                "seconds_left": left,
            }
            write_whole(self.file, json.dumps(state).encode())
        if now - self.logged >= LOG_SECONDS:
            self.logged = now
            log.info(
                "iteration %d of %d, %.1f it/s, %.0f s left, loss %.2e, error %.2e",
                row.iteration,
                self.iterations,
                rate,
                left,
                row.loss,
                error,
            )

    def close(self) -> None:
        """Close the bar."""
        self.bar.close()
