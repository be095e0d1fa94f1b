"""Where a rule's messages go."""

import logging
import sys
import warnings
from pathlib import Path
from types import TracebackType


def log_to(path: str) -> None:
    """Send log lines, warnings and errors to a file, with the time of each.

    An error in the input is one line on the terminal; its traceback is in the file.
    """
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
    sys.excepthook = _log_and_show


def _log_and_show(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    logging.critical("%s", error, exc_info=(kind, error, traceback))
    if issubclass(kind, ValueError | OSError):
        print(f"neumann-pinn: {error}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, traceback)
