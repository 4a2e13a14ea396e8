# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/record-demo: from a capture to an SVG."""
import re
import xml.etree.ElementTree as ET

import pytest

from erdma import record_cli as record

pytestmark = pytest.mark.group('unit')
SVG = '{http://www.w3.org/2000/svg}'
EVENTS = [(0.1, '[1/4] Set-up\r\n  driver ...'), (5.0, '\r\x1b[K  driver: done in 5 s\r\n'),
          (5.1, '$ eadm list qp <&>\r\n'), (5.2, 'x' * (record.COLUMNS + 1) + '\r\n'),
          (70.0, 'demo: OK\r\n')]


def test_a_rewritten_line_is_its_last_text():
    assert record.lines_of(EVENTS)[:2] == [(0.1, '[1/4] Set-up'), (5.0, '  driver: done in 5 s')]


def test_long_lines_are_several_rows():
    rows = [row for _, row in record.wrapped(record.lines_of(EVENTS))]
    assert rows[3:5] == ['x' * record.COLUMNS, 'x']


def test_pauses_are_short_and_times_increase():
    times = [at for at, _ in record.paced(record.wrapped(record.lines_of(EVENTS)))]
    gaps = [b - a for a, b in zip(times, times[1:])]
    assert min(gaps) >= record.SHORTEST - 0.01 and max(gaps) <= record.READING + 0.01


def test_svg_has_every_row_and_is_the_same_each_time():
    text = record.render(EVENTS)
    assert text == record.render(EVENTS)
    texts = [x.text for x in ET.fromstring(text).iter(f'{SVG}text')]
    assert texts[1:] == ['[1/4] Set-up', '  driver: done in 5 s', '$ eadm list qp <&>',
                         'x' * record.COLUMNS, 'x', 'demo: OK']


def test_the_screen_scrolls_by_what_does_not_fit():
    rows = [(0.1 * i, f'line {i}') for i in range(record.ROWS + 3)]
    text = record.svg(record.paced(rows))
    scrolled = re.search(r'@keyframes s\{(.*)\}@keyframes v', text)[1]
    assert re.findall(r'translateY\((-?\d+)', scrolled) == \
        ['0'] + [str(-record.LINE * n) for n in (1, 2, 3, 3)]


def test_without_animation_the_last_screen_shows_and_with_it_the_first_line_at_once():
    rows = [(0.1 * i, f'line {i}') for i in range(record.ROWS + 3)]
    text = record.svg(record.paced(rows))
    assert f'#s{{transform:translateY({-3 * record.LINE}px);' in text
    assert f'#v{{transform:translateY({(record.ROWS + 3) * record.LINE}px);' in text
    assert f'@keyframes v{{0%{{transform:translateY({record.LINE}px)}}' in text


def test_folders_of_the_machine_do_not_show():
    assert record.private(f'see {record.TOP}/build/x and {record.Path.home()}/.cache/erdma') == \
        'see build/x and ~/.cache/erdma'
