"""Where a rule's messages go."""

import logging
import warnings
from pathlib import Path


def log_to(path: str) -> None:
    """Send log lines and warnings to a file, with the time of each."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=path,
        filemode="w",
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        force=True,
    )
    logging.captureWarnings(True)
    warnings.simplefilter("default")
