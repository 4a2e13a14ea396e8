#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench-report.py MEMCPY_MBS BENCH_TXT JSON: medians, ratios, targets.

Status 1 if a target is missed or a number is absent.
"""
import json
import statistics
import sys

# metric, what it is, unit, target of the ratio erdma / rxe, larger is better
TARGETS = [
    ("write_bw_1m_mbs", "ib_write_bw, 1 MiB", "MB/s", 50, True),
    ("write_lat_2b_us", "ib_write_lat, 2 B", "us", 0.25, False),
    ("send_rate_64b_mpps", "ib_send_bw, 64 B, messages", "M/s", 4, True),
]


def read(path):
    values = {}
    with open(path, encoding="ascii") as f:
        for line in f:
            driver, metric, value = line.split()
            values.setdefault((driver, metric), []).append(float(value))
    return {k: statistics.median(v) for k, v in values.items()}


def main():
    memcpy, path, out = float(sys.argv[1]), sys.argv[2], sys.argv[3]
    values = read(path)
    report = {"schema": "erdma.bench/1", "memcpy_mbs": memcpy,
              "mmio_write_ns": values.get(("erdma", "mmio_write_ns")), "metrics": {}}
    ok = report["mmio_write_ns"] is not None
    print(f"\n{'':28}{'erdma':>12}{'Soft-RoCE':>12}{'ratio':>10}  target")
    for metric, what, unit, target, larger in TARGETS:
        ours, peer = values.get(("erdma", metric)), values.get(("rxe", metric))
        if not ours or not peer:
            print(f"{what:28}  no number")
            ok = False
            continue
        ratio = ours / peer
        met = ratio >= target if larger else ratio <= target
        ok = ok and met
        sign = ">=" if larger else "<="
        print(f"{what:28}{ours:12.4g}{peer:12.4g}{ratio:10.3g}  {sign} {target}"
              f"{'' if met else '  MISSED'}   ({unit})")
        report["metrics"][metric] = {"erdma": ours, "rxe": peer, "ratio": ratio,
                                     "target": target, "met": met, "unit": unit}
    bandwidth = values.get(("erdma", "write_bw_1m_mbs"), 0)
    print(f"\nhost memcpy {memcpy:.0f} MB/s (ib_write_bw 1 MiB: {bandwidth / memcpy:.0%} of it), "
          f"one register write {report['mmio_write_ns']} ns")
    report["ok"] = ok
    with open(out, "w", encoding="ascii") as f:
        json.dump(report, f, indent=2)
        f.write("\n")
    print(f"\nbench: {'all targets met' if ok else 'a target is missed'} ({out})")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
