# SPDX-License-Identifier: GPL-2.0-or-later
"""Medians, ratios and targets of a benchmark, as a table and as JSON."""
import dataclasses
import json
import statistics

NAMES = {'rxe': 'Soft-RoCE', 'siw': 'Soft-iWARP', 'memcpy': 'memcpy'}


@dataclasses.dataclass(frozen=True)
class Target:
    """A row of the table.

    base: what it is compared with. limit: of the ratio; None: for information.
    """
    metric: str
    what: str
    unit: str
    base: str
    limit: float
    larger: bool = True         # larger is better

    def met(self, ratio) -> bool:
        """Is the ratio good enough?"""
        return self.limit is None or (ratio >= self.limit if self.larger else ratio <= self.limit)

    def wanted(self) -> str:
        """The limit as text."""
        return '' if self.limit is None else f'{">=" if self.larger else "<="} {self.limit}'


ONE_VM = (
    Target('write_bw_1m_mbs', 'ib_write_bw, 1 MiB', 'MB/s', 'rxe', 50),
    Target('write_lat_2b_us', 'ib_write_lat, 2 B', 'us', 'rxe', 0.25, larger=False),
    Target('send_rate_64b_mpps', 'ib_send_bw, 64 B, messages', 'M/s', 'rxe', 4),
)
TWO_VMS = (
    Target('write_bw_1m_mbs', 'ib_write_bw, 1 MiB', 'MB/s', 'memcpy', 0.5),
    Target('write_lat_2b_us', 'ib_write_lat, 2 B', 'us', 'rxe', 0.05, larger=False),
    Target('write_rate_64b_mpps', 'ib_write_bw, 64 B, messages', 'M/s', 'rxe', 20),
    Target('send_rate_64b_mpps', 'ib_send_bw, 64 B, messages', 'M/s', 'rxe', 20),
    Target('short_write_rate_mpps', '  writes, 128 deep', 'M/s', 'rxe', None),
    Target('short_send_rate_mpps', '  sends, 128 deep', 'M/s', 'rxe', None),
)


class Values:
    """Numbers of several rounds: (driver, metric) -> list. What is added goes to a file, too."""

    def __init__(self, path):
        self._rounds = {}
        self._path = path

    def add(self, driver, metric, value) -> None:
        """One more number."""
        self._rounds.setdefault((driver, metric), []).append(float(value))
        with open(self._path, 'a', encoding='ascii') as f:
            f.write(f'{driver} {metric} {value}\n')

    def rounds(self, driver, metric) -> list:
        """All of one metric."""
        return self._rounds.get((driver, metric), [])

    def medians(self) -> dict:
        """(driver, metric) -> number."""
        return {k: statistics.median(v) for k, v in self._rounds.items()}


def cell(value) -> str:
    """A number of the table, or a dash."""
    return f'{value:12.4g}' if value else f'{"-":>12}'


def judge(values, target, peers):
    """(row of the table, entry of the JSON file); the entry is None without a number."""
    t = target
    ours, other = values.get(('erdma', t.metric)), values.get((t.base, t.metric))
    if not ours or not other:
        return f'{t.what:28}  no number of {"erdma" if not ours else NAMES[t.base]}', None
    ratio = ours / other
    row = (f'{t.what:28}{ours:12.4g}{"".join(cell(values.get((p, t.metric))) for p in peers)}'
           f'{ratio:10.3g} of {NAMES[t.base]:10} {t.wanted()}'
           f'{"" if t.met(ratio) else "  MISSED"}   ({t.unit})')
    entry = {'erdma': ours, 'base': t.base, 'ratio': ratio, 'target': t.limit,
             'met': t.met(ratio), 'unit': t.unit}
    entry.update({p: values[p, t.metric] for p in (*peers, t.base) if (p, t.metric) in values})
    return row, entry


def report(values, memcpy, targets, peers, path, need_price=False) -> bool:
    """Print the table and write the JSON file; True: all targets are met.

    values: medians. memcpy: MB/s of the host. peers: drivers with a column of their own.
    need_price: the price of a register write belongs to the run.
    """
    values = {**values, ('memcpy', 'write_bw_1m_mbs'): memcpy}
    price = values.get(('erdma', 'mmio_write_ns'))
    result = {'schema': 'erdma.bench/1', 'memcpy_mbs': memcpy, 'mmio_write_ns': price,
              'metrics': {}}
    ok = price is not None or not need_price
    print(f'\n{"":28}{"erdma":>12}{"".join(f"{NAMES[p]:>12}" for p in peers)}'
          f'{"ratio":>10}  target')
    for target in targets:
        row, entry = judge(values, target, peers)
        print(row)
        ok = ok and entry is not None and entry['met']
        if entry:
            result['metrics'][target.metric] = entry
    bandwidth = values.get(('erdma', 'write_bw_1m_mbs'), 0)
    print(f'\nhost memcpy {memcpy:.0f} MB/s (ib_write_bw 1 MiB: {bandwidth / memcpy:.0%} of it)'
          + (f', one register write {price:g} ns' if price else ''))
    result['ok'] = ok
    with open(path, 'w', encoding='ascii') as f:
        json.dump(result, f, indent=2)
        f.write('\n')
    print(f'\nbench: {"all targets met" if ok else "a target is missed"} ({path})', flush=True)
    return ok
