"""Draws measurements below the roofline of their device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._bench import Measurement


def draw(measurements: list[Measurement], ax: Any) -> Any:
    """Draws measurements; returns the axes of matplotlib."""
    shown = [one for one in measurements if one.flops_per_byte and one.flops_per_s]
    if not shown:
        raise ValueError("a roofline needs operations and bytes: give flops= and bytes= to chipdock.bench")
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("a plot needs matplotlib: pip install matplotlib") from error
    if ax is None:
        _, ax = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    intensities = [one.flops_per_byte or 1.0 for one in shown]
    left, right = min(intensities) / 8, max(intensities) * 8
    for limits in {one.limits: None for one in shown}:
        if limits is None or not limits.bytes_per_s or not limits.flops_per_s:
            continue
        ridge = limits.flops_per_s / limits.bytes_per_s
        left, right = min(left, ridge / 8), max(right, ridge * 8)
        xs = [left, ridge, right]
        ys = [min(x * limits.bytes_per_s, limits.flops_per_s) / 1e9 for x in xs]
        label = f"{limits.device}, {limits.dtype}: {limits.bytes_per_s / 1e9:.3g} GB/s, {limits.flops_per_s / 1e9:.3g} GFLOP/s"
        ax.plot(xs, ys, linewidth=2, label=label)
    for one in shown:
        assert one.flops_per_s is not None
        label = f"{one.name}: {one.flops_per_s / 1e9:.3g} GFLOP/s"
        (point,) = ax.plot([one.flops_per_byte], [one.flops_per_s / 1e9], "o", markersize=7, label=label)
        ax.vlines(one.flops_per_byte, 0, one.flops_per_s / 1e9, color=point.get_color(), linestyle=":", linewidth=1)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlabel("FLOP per byte")
    ax.set_ylabel("GFLOP/s")
    ax.margins(y=0.3)  # the legend's place, above the slope
    ax.grid(True, which="major", alpha=0.3)
    ax.legend(fontsize="small", loc="upper left")
    return ax
