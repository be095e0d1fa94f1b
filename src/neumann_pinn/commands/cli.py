"""The command `neumann-pinn`."""

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from neumann_pinn.commands import watch
from neumann_pinn.files import write_whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; a mistake in the arguments gives one line and exit code 1."""
    parser = argparse.ArgumentParser(prog="neumann-pinn", description=__doc__)
    commands = parser.add_subparsers(required=True)
    _add_bench(commands)
    _add_watch(commands)
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        options.run(options)
    except KeyboardInterrupt:
        return 130
    except (ValueError, OSError) as error:
        print(f"neumann-pinn: {error}", file=sys.stderr)
        return 1
    return 0


def _add_bench(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "bench",
        help="time a training iteration side by side with DeepXDE",
        description="Time a training iteration of chosen methods, interleaved with DeepXDE's on "
        "the same points, network and optimizer; medians.",
    )
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="default: all nine")
    parser.add_argument("--points", type=int, default=20_000, help="domain points (20000)")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads (1)")
    parser.add_argument("--rounds", type=int, default=7, help="alternating rounds (7)")
    parser.add_argument("--no-deepxde", action="store_true", help="time our iterations only")
    parser.add_argument("--no-growth", action="store_true", help="skip the growing point sets")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all measurements to FILE")
    parser.set_defaults(run=_bench)


def _add_watch(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "watch",
        help="show all runs of a protocol while Snakemake works",
        description="Show setting x method: progress, loss, error and time left of every run, "
        "until all are done or Ctrl-C.",
    )
    parser.add_argument("results", type=Path, nargs="?", default=Path("results/quick"))
    parser.add_argument("--once", action="store_true", help="show it once and stop")
    parser.set_defaults(run=lambda options: watch.watch(options.results, options.once))


def _bench(options: argparse.Namespace) -> None:
    from neumann_pinn.commands import bench  # imports torch, which `watch` does not need
    from neumann_pinn.model.methods import METHODS

    methods = options.methods or METHODS
    for name in ("points", "threads", "rounds"):
        if getattr(options, name) < 1:
            raise ValueError(f"--{name} {getattr(options, name)}: give at least 1")
    print(f"{options.points} domain points, {options.threads} thread(s)")
    print(
        f"{'method':20}{'ms':>8}{'DeepXDE ms':>12}{'ratio':>8}{'of peak':>9}"
        f"{'MiB':>7}{'DeepXDE MiB':>13}{'peak GFLOP/s':>14}"
    )
    timings = []
    for name in methods:
        row = bench.compare(
            name, options.points, options.threads, options.rounds, not options.no_deepxde
        )
        timings.append(row)
        deepxde_ms = f"{row.deepxde_ms:.0f}" if row.deepxde_ms else "-"
        ratio = f"{row.ratio:.1f}" if row.ratio else "-"
        memory = f"{row.deepxde_memory_mib:.0f}" if row.deepxde_memory_mib else "-"
        print(
            f"{row.method:20}{row.ms:8.1f}{deepxde_ms:>12}{ratio:>8}{row.share_of_peak:9.2f}"
            f"{row.memory_mib:7.0f}{memory:>13}{row.peak_gflops:14.0f}"
            f"{' (eager)' if row.eager_reason else ''}",
            flush=True,
        )
    growth = []
    if not options.no_growth:
        print(f"\n{'method':20}{'points':>8}{'ms':>8}{'MiB':>7}")
        for name in methods:
            for domain in (2_000, 20_000, 200_000):
                size = bench.grow(name, domain, options.threads)
                growth.append(size)
                print(f"{name:20}{domain:8}{size.ms:8.1f}{size.memory_mib:7.0f}", flush=True)
    if options.json:
        document = bench.as_json(timings, growth, options.threads)
        write_whole(options.json, json.dumps(document, indent=2).encode())
