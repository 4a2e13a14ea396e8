# SPDX-License-Identifier: GPL-2.0-or-later
"""Counted instructions: what the plugin wrote, the table beside the stock driver, a profile."""
import bisect
import dataclasses
import json
import re
import statistics

#: Of the ratio to the stock driver, which is not rounded: in each row, and in so many rows.
MOST, GOOD, GOOD_ROWS = 1.0, 0.8, 4

#: Rows of the table.
OPERATIONS = {
    'pd': 'PD, allocate and free',
    'cq': 'CQ, create and destroy',
    'qp': 'QP, create and destroy',
    'mr_4k': 'MR of 4 KiB, register and deregister',
    'mr_1m': 'MR of 1 MiB',
    'mr_64m': 'MR of 64 MiB',
    'context': 'context, open and close',
    'query_device': 'query_device',
    'connect': 'connect and disconnect',
    'post_send': 'kernel: a write posted',
    'poll_send': 'kernel: its completion polled',
    'post_recv': 'kernel: a receive posted',
    'poll_recv': 'kernel: its completion polled',
    'rdma_show': 'rdma resource show qp, per QP',
}


@dataclasses.dataclass(frozen=True)
class Section:
    """What was executed between two marks."""
    tag: int
    kernel: int
    user: int
    blocks: tuple = ()          # (address, instructions), when profiling

    @property
    def all(self) -> int:
        """Instructions."""
        return self.kernel + self.user


class Cost:
    """The sections of one operation, which was done COUNT times in each."""

    def __init__(self, sections, count):
        if not sections:
            raise ValueError('no section was counted')
        self.each = sorted(x.all / count for x in sections)
        self.kernel = min(x.kernel / count for x in sections)

    @property
    def best(self) -> float:
        """Instructions of one operation. What interrupts it only adds to them: the least counts."""
        return self.each[0]

    @property
    def spread(self) -> float:
        """How far the median is above the least, as a part of it."""
        return statistics.median(self.each) / self.best - 1


def parse_counts(text) -> list:
    """The sections in what the plugin wrote."""
    found, blocks = [], []
    for line in text.splitlines():
        if line.startswith('@'):
            address, n = line[1:].split()
            blocks.append((int(address, 16), int(n)))
        else:
            blocks = []
            found.append(Section(*map(int, line.split()), blocks))
    return found


def parse_plan(text) -> list:
    """(tag, name, count) of the lines that say what was measured."""
    return [(int(tag), name, int(count)) for tag, name, count in
            re.findall(r'(?m)^(?:# )?cost (\d+) (\w+) (\d+)$', text)]


def miscounted(plan, sections) -> list:
    """What is wrong with sections whose names say how many instructions they have."""
    found = []
    for tag, name, _ in plan:
        least = min((x.user for x in sections if x.tag == tag), default=None)
        if name != f'known_{least}':
            found.append(f'{name}: {least} were counted')
    return found


def costs(plan, sections) -> dict:
    """name -> Cost, of what parse_plan() and parse_counts() found."""
    return {name: Cost([x for x in sections if x.tag == tag], count) for tag, name, count in plan}


def shown(cost) -> str:
    """Two columns of the table."""
    return f'{cost.best:13,.0f} {cost.spread:6.1%}'


def report(ours, stock, path=None) -> bool:
    """Print the table of two results of costs(), and write it as JSON; True: all targets are met.

    Both must have the same operations.
    """
    if set(ours) != set(stock) or not ours:
        raise ValueError(f'operations differ: {sorted(set(ours) ^ set(stock))}')
    print(f'\n{"instructions":38}{"erdma":>13}{"":8}{"in-tree":>13}{"":8}{"ratio":>6} '
          f'{"kernel":>6}  target')
    rows = {}
    for name in [x for x in OPERATIONS if x in ours]:
        a, b = ours[name], stock[name]
        ratio = a.best / b.best
        rows[name] = {'erdma': a.best, 'in-tree': b.best, 'ratio': ratio, 'met': ratio <= MOST,
                      'erdma_spread': a.spread, 'in-tree_spread': b.spread}
        print(f'{OPERATIONS[name]:38}{shown(a)} {shown(b)} {ratio:6.3f} '
              f'{a.kernel / b.kernel:6.3f}  <= {MOST:g}{"" if ratio <= MOST else "  MISSED"}')
    good = sum(x['ratio'] <= GOOD for x in rows.values())
    ok = all(x['met'] for x in rows.values()) and good >= GOOD_ROWS
    print(f'\n{good} are at most {GOOD:g}, wanted {GOOD_ROWS}'
          f'{"" if good >= GOOD_ROWS else "  MISSED"}')
    if path:
        with open(path, 'w', encoding='ascii') as f:
            json.dump({'schema': 'erdma.bench-control/1', 'ok': ok, 'rows': rows}, f, indent=2)
            f.write('\n')
    print(f'bench-control: {"all targets met" if ok else "a target is missed"}'
          f'{f" ({path})" if path else ""}', flush=True)
    return ok


# ---- profile ------------------------------------------------------------------

def parse_symbols(text) -> list:
    """Sorted (address, name) of what /proc/kallsyms shows."""
    found = []
    for line in text.splitlines():
        address, kind, name, *module = line.split()
        if kind in 'tTwW':
            found.append((int(address, 16), ' '.join([name, *module])))
    return sorted(found)


def profile(sections, count, symbols) -> list:
    """(instructions of one operation, function), the most expensive first, of the best section."""
    best = min(sections, key=lambda x: x.all)
    addresses = [x for x, _ in symbols]
    total = {}
    for address, n in best.blocks:
        i = bisect.bisect_right(addresses, address) - 1
        name = symbols[i][1] if i >= 0 else '?'
        total[name] = total.get(name, 0) + n / count
    return sorted(((n, name) for name, n in total.items()), reverse=True)
