"""The command `neumann-pinn`."""

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from neumann_pinn.commands import watch
from neumann_pinn.files import write_whole

if TYPE_CHECKING:
    from neumann_pinn.commands.bench import NewtonTiming, Training


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
        help="time a training iteration side by side with DeepXDE, and Gauss-Newton with Adam",
        description="Time an iteration of Adam for chosen methods, interleaved with DeepXDE's on "
        "the same points, network and optimizer, and a step of Gauss-Newton; medians. Then train "
        "with Gauss-Newton and, as long, with Adam, and show the seconds to an error.",
    )
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="default: all nine")
    parser.add_argument("--points", type=int, default=20_000, help="domain points (20000)")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads (1)")
    parser.add_argument("--rounds", type=int, default=7, help="alternating rounds (7)")
    parser.add_argument("--no-deepxde", action="store_true", help="time our iterations only")
    parser.add_argument("--no-newton", action="store_true", help="skip Gauss-Newton")
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
    parser.add_argument("results", type=Path, nargs="?", default=Path("results/gauss_newton"))
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
    newton = [] if options.no_newton else _bench_newton(methods, options.threads, options.rounds)
    growth = []
    if not options.no_growth:
        print(f"\n{'method':20}{'points':>8}{'ms':>8}{'MiB':>7}")
        for name in methods:
            for domain in (2_000, 20_000, 200_000):
                size = bench.grow(name, domain, options.threads)
                growth.append(size)
                print(f"{name:20}{domain:8}{size.ms:8.1f}{size.memory_mib:7.0f}", flush=True)
    if options.json:
        document = bench.as_json(timings, newton, growth, options.threads)
        write_whole(options.json, json.dumps(document, indent=2).encode())


def _bench_newton(methods: Sequence[str], threads: int, rounds: int) -> "list[NewtonTiming]":
    """Print a row for each method: a step of Gauss-Newton, and its training beside Adam's."""
    from neumann_pinn.commands import bench

    print(
        f"\nGauss-Newton: {bench.NEWTON.domain} domain points, 1 thread, "
        f"{bench.NEWTON.iterations} steps; Adam: as many points, {threads} thread(s), as long; "
        "seconds to an error"
    )
    seconds = "".join(f"{f'to {error}':>9}" for error in bench.ERRORS) + f"{'in all':>8}"
    print(
        f"{'method':20}{'ms':>8}{'of peak':>9}{'MiB':>7}{'peak GFLOP/s':>14}{seconds}"
        f"{'Adam ms':>9}{seconds}"
    )
    rows = []
    for name in methods:
        row = bench.compare_newton(name, threads, rounds)
        rows.append(row)
        print(
            f"{row.method:20}{row.ms:8.1f}{row.share_of_peak:9.2f}{row.memory_mib:7.0f}"
            f"{row.peak_gflops:14.0f}{_seconds(row.training)}"
            f"{row.adam_ms:9.1f}{_seconds(row.adam_training)}",
            flush=True,
        )
    return rows


def _seconds(training: "Training") -> str:
    """The seconds to each error, dashes if it was not reached, and all that were spent."""
    reached = ("-" if s is None else f"{s:.1f}" for s in training.seconds_to.values())
    return "".join(f"{s:>9}" for s in reached) + f"{training.seconds:8.1f}"
