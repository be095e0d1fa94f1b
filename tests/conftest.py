"""Shared by the tests."""

import os
import shutil

COMPILE = [False, True] if shutil.which(os.environ.get("CXX", "g++")) else [False]
"""Whether to compile: both ways, where there is a C++ compiler."""
