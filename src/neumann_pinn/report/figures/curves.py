"""Error while training, a panel for each setting."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from neumann_pinn.report.figures.style import (
    Style,
    figure_style,
    method_handles,
    method_lines,
    panels,
    stamp,
)
from neumann_pinn.study.accuracy import recorded_seconds
from neumann_pinn.study.budget import Budget


def error_curves(
    histories: Mapping[tuple[str, str, int], pd.DataFrame],
    budget: Budget,
    against: str,
    settings: Mapping[str, str],
    styles: Mapping[str, Style],
    protocol: str,
    wall_clock: bool = False,
) -> Figure:
    """Error at the lowest loss so far against iterations or time, one panel for each setting.

    Time follows from the budget's costs or, with `wall_clock`, is what each run recorded.
    """
    lines, vanilla = method_lines(styles), budget.vanilla
    with figure_style():
        figure, axes_of = panels(len(settings) + 1, 2.1, sharex=not wall_clock)
        for axes, (setting, label) in zip(axes_of, settings.items(), strict=False):
            for method in styles:
                runs = [h for (s, m, _), h in histories.items() if (s, m) == (setting, method)]
                for history in runs:
                    x = history["iteration"]
                    if against == "time" and wall_clock:
                        x = history["seconds"]
                    elif against == "time":
                        x = x * budget.costs[method] / 1e3
                    axes.plot(
                        x,
                        history["error_at_best_loss"],
                        **lines[method],
                        linewidth=1,
                        alpha=1 if len(runs) == 1 else 0.6,
                    )
            limit: float = budget.iterations
            if against == "time" and wall_clock:
                runs = [h for (s, m, _), h in histories.items() if (s, m) == (setting, vanilla)]
                limit = max(recorded_seconds(history, budget.iterations) for history in runs)
            elif against == "time":
                limit *= budget.costs[vanilla] / 1e3
            axes.axvline(limit, color="0.5", linewidth=0.6)
            axes.set_yscale("log")
            axes.set_title(label)
            axes.set_xlim(0, limit * 1.02)
            axes.set_xlabel("Iterations" if against == "iterations" else "Training time / s")
            axes.tick_params(labelbottom=True)
        for axes in axes_of[:-1:3]:
            axes.set_ylabel("Relative $L^2$ error")
        axes_of[-1].set_axis_off()
        axes_of[-1].legend(handles=method_handles(styles), loc="center", fontsize=7)
        stamp(figure, protocol)
    return figure
