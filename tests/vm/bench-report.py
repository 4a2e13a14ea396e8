#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench-report.py [--model] MEMCPY_MBS[,...] BENCH_TXT JSON: medians, ratios, targets.

Without --model: one VM, against Soft-RoCE in it (bench.sh). With it: two VMs,
against Soft-RoCE, Soft-iWARP and the host's memcpy (bench-model.sh).
Status 1 if a target is missed or a number is absent.
"""
import json
import statistics
import sys

# metric, what it is, unit, what it is compared with, target of the ratio (None: for
# information), larger is better
ONE_VM = [
    ("write_bw_1m_mbs", "ib_write_bw, 1 MiB", "MB/s", "rxe", 50, True),
    ("write_lat_2b_us", "ib_write_lat, 2 B", "us", "rxe", 0.25, False),
    ("send_rate_64b_mpps", "ib_send_bw, 64 B, messages", "M/s", "rxe", 4, True),
]
TWO_VMS = [
    ("write_bw_1m_mbs", "ib_write_bw, 1 MiB", "MB/s", "memcpy", 0.5, True),
    ("write_lat_2b_us", "ib_write_lat, 2 B", "us", "rxe", 0.05, False),
    ("write_rate_64b_mpps", "ib_write_bw, 64 B, messages", "M/s", "rxe", 20, True),
    ("send_rate_64b_mpps", "ib_send_bw, 64 B, messages", "M/s", "rxe", 20, True),
    ("short_write_rate_mpps", "  writes, 128 deep", "M/s", "rxe", None, True),
    ("short_send_rate_mpps", "  sends, 128 deep", "M/s", "rxe", None, True),
]
NAMES = {"rxe": "Soft-RoCE", "siw": "Soft-iWARP", "memcpy": "memcpy"}


def read(path):
    values = {}
    with open(path, encoding="ascii") as f:
        for line in f:
            driver, metric, value = line.split()
            values.setdefault((driver, metric), []).append(float(value))
    return {k: statistics.median(v) for k, v in values.items()}


def cell(value):
    return f"{value:12.4g}" if value else f"{'-':>12}"


def judge(values, target, peers):
    """One line of the table; the entry for the JSON file, or None without a number."""
    metric, what, unit, base, limit, larger = target
    ours, other = values.get(("erdma", metric)), values.get((base, metric))
    if not ours or not other:
        print(f"{what:28}  no number of {'erdma' if not ours else NAMES[base]}")
        return None
    ratio = ours / other
    met = limit is None or (ratio >= limit if larger else ratio <= limit)
    wanted = "" if limit is None else f"{'>=' if larger else '<='} {limit}"
    print(f"{what:28}{ours:12.4g}{''.join(cell(values.get((p, metric))) for p in peers)}"
          f"{ratio:10.3g} of {NAMES[base]:10} {wanted}{'' if met else '  MISSED'}   ({unit})")
    entry = {"erdma": ours, "base": base, "ratio": ratio, "target": limit, "met": met, "unit": unit}
    entry.update({p: values[(p, metric)] for p in (*peers, base) if (p, metric) in values})
    return entry


def main():
    args = sys.argv[1:]
    model = args[0] == "--model"
    memcpy = statistics.median(float(x) for x in args[model].split(","))
    path, out = args[model + 1:]
    targets, peers = (TWO_VMS, ("rxe", "siw")) if model else (ONE_VM, ("rxe",))
    values = read(path)
    values["memcpy", "write_bw_1m_mbs"] = memcpy
    price = values.get(("erdma", "mmio_write_ns"))
    report = {"schema": "erdma.bench/1", "memcpy_mbs": memcpy, "mmio_write_ns": price,
              "metrics": {}}
    ok = model or price is not None

    print(f"\n{'':28}{'erdma':>12}{''.join(f'{NAMES[p]:>12}' for p in peers)}{'ratio':>10}  target")
    for target in targets:
        entry = judge(values, target, peers)
        ok = ok and entry is not None and entry["met"]
        if entry:
            report["metrics"][target[0]] = entry
    bandwidth = values.get(("erdma", "write_bw_1m_mbs"), 0)
    print(f"\nhost memcpy {memcpy:.0f} MB/s (ib_write_bw 1 MiB: {bandwidth / memcpy:.0%} of it)"
          + (f", one register write {price} ns" if price else ""))
    report["ok"] = ok
    with open(out, "w", encoding="ascii") as f:
        json.dump(report, f, indent=2)
        f.write("\n")
    print(f"\nbench: {'all targets met' if ok else 'a target is missed'} ({out})")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
