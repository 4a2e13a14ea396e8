# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/record-demo: an SVG that plays a run of tools/demo.

Runs it on a terminal of its own, notes when which line was there, and writes an animation: one
text element per line, one CSS animation that scrolls, no script. The same capture makes the same
file. Pauses are shortened, so that it shows how it looks and not how long a build takes.
"""
import argparse
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from html import escape
from pathlib import Path

from .paths import TOOLS, TOP

COLUMNS, ROWS = 104, 34
CHAR, LINE, SIZE = 7.83, 17, 13         # width, height of a line, size of the font, in pixels
LEFT, ABOVE, BELOW = 16, 40, 14
LONGEST, SHORTEST = 1.2, 0.04           # seconds from one line to the next
READING = 1.5                           # after a command's output, before the next one
END = 8.0                               # the last screen stays
TITLE = 'make demo'
STYLES = (                              # the first that matches a line colours it
    (re.compile(r'\$ '), 'c'),          # a command
    (re.compile(r'--- |\[\d/\d\] '), 't'),
    (re.compile(r'demo: OK'), 'g'),
    (re.compile(r'demo: FAILED'), 'r'),
)
CSS = f'''text{{font:{SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",\
"Liberation Mono",monospace;fill:#d0d7de;white-space:pre}}
.c{{fill:#79c0ff}}.t{{fill:#e3b341;font-weight:bold}}.g{{fill:#56d364;font-weight:bold}}\
.r{{fill:#ff7b72;font-weight:bold}}.n{{fill:#8b949e}}
'''


# ---- capture ------------------------------------------------------------------------------

def capture(argv) -> list:
    """Run a program on a terminal; [(seconds since the begin, text)] as it came, and its status.

    What it prints is passed on to our stdout.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', ROWS, COLUMNS, 0, 0))
    begin, events = time.monotonic(), []
    env = {**os.environ, 'TERM': 'xterm', 'COLUMNS': str(COLUMNS)}
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                          start_new_session=True, env=env) as proc:
        os.close(slave)
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:             # the program has closed its end
                break
            if not data:
                break
            events.append((round(time.monotonic() - begin, 2), data.decode(errors='replace')))
            sys.stdout.write(events[-1][1])
            sys.stdout.flush()
    os.close(master)
    if proc.returncode:
        raise SystemExit(f'record-demo: {argv[0]} ended with status {proc.returncode}')
    return events


def lines_of(events) -> list:
    """[(time, line)]: lines as they were when they ended. A rewritten line is its last text."""
    done, current = [], ''
    for at, text in events:
        for part in re.findall(r'\n|\r\n|\r|\x1b\[[0-9;?]*[A-Za-z]|[^\n\r\x1b]+', text):
            if part.endswith('\n'):
                done.append((at, current.rstrip()))
                current = ''
            elif part == '\r' or part == '\x1b[K':
                current = '' if part == '\r' else current
            elif not part.startswith('\x1b'):
                current += part
    return done


def private(line) -> str:
    """A line without the names of this machine: its folders."""
    home = str(Path.home())
    return line.replace(str(TOP) + '/', '').replace(str(TOP), '.').replace(home, '~')


def wrapped(lines) -> list:
    """[(time, row of the screen)]: long lines are several rows."""
    rows = []
    for at, line in lines:
        line = private(line).expandtabs()
        rows += [(at, line[i:i + COLUMNS]) for i in range(0, max(1, len(line)), COLUMNS)]
    return rows


def paced(rows) -> list:
    """[(time, row)] with pauses that a reader likes."""
    now, last, out = 0.5, 0.0, []
    for at, row in rows:
        pause = min(max(at - last, SHORTEST), LONGEST)
        if row.startswith(('$ ', '--- ')):
            pause = READING
        now, last = now + pause, at
        out.append((round(now, 2), row))
    return out


# ---- picture ------------------------------------------------------------------------------

def style(row) -> str:
    """The class of a row's text, as an attribute."""
    return next((f' class="{name}"' for pattern, name in STYLES if pattern.match(row)), '')


def keyframes(times, total) -> tuple:
    """CSS keyframes (scroll, cover): how far up the text is, and what of it is still covered."""
    scroll = ['0%{transform:translateY(0)}']
    cover = [f'0%{{transform:translateY({LINE}px)}}']       # the first line is there at once
    for i, at in enumerate(times):
        if i + 1 < len(times) and times[i + 1] == at:
            continue
        percent = f'{100 * at / total:.3f}'.rstrip('0').rstrip('.')
        up = max(0, i + 1 - ROWS)
        if up:
            scroll.append(f'{percent}%{{transform:translateY({-up * LINE}px)}}')
        cover.append(f'{percent}%{{transform:translateY({(i + 1) * LINE}px)}}')
    for frames in (scroll, cover):      # the last screen stays until the end
        frames.append('100%' + frames[-1][frames[-1].index('{'):])
    return ''.join(scroll), ''.join(cover)


def frame(width, height) -> list:
    """The window."""
    dots = ''.join(f'<circle cx="{20 + 18 * i}" cy="16" r="5.5" fill="{colour}"/>'
                   for i, colour in enumerate(('#ff5f57', '#febc2e', '#28c840')))
    return [f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
            f'<path d="M0 8a8 8 0 0 1 8-8h{width - 16}a8 8 0 0 1 8 8v24H0z" fill="#161b22"/>',
            dots, f'<text class="n" x="{width // 2}" y="21" text-anchor="middle">{TITLE}</text>']


def svg(rows) -> str:
    """The animation of [(time, row)]."""
    width = round(COLUMNS * CHAR + 2 * LEFT)
    height = ABOVE + ROWS * LINE + BELOW
    total = rows[-1][0] + END
    scroll, cover = keyframes([at for at, _ in rows], total)
    end = max(0, len(rows) - ROWS) * -LINE
    css = (f'{CSS}@keyframes s{{{scroll}}}@keyframes v{{{cover}}}\n'
           # Without animation the last screen is shown.
           f'#s{{transform:translateY({end}px);animation:s {total:.2f}s step-end infinite}}'
           f'#v{{transform:translateY({len(rows) * LINE}px);'
           f'animation:v {total:.2f}s step-end infinite}}\n'
           f'@media (prefers-reduced-motion:reduce){{#s,#v{{animation:none}}}}')
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           f'width="{width}" height="{height}" xml:space="preserve" role="img">',
           '<!-- SPDX-License-Identifier: GPL-2.0-or-later; made by tools/record-demo -->',
           '<title>A run of make demo</title>', f'<style>{css}</style>', *frame(width, height),
           f'<svg y="{ABOVE - 4}" width="{width}" height="{ROWS * LINE + 6}"><g id="s">']
    for i, (_, row) in enumerate(rows):
        if row:
            out.append(f'<text x="{LEFT}" y="{i * LINE + SIZE}"{style(row)}>'
                       f'{escape(row, quote=False)}</text>')
    out += [f'<rect id="v" width="{width}" height="{len(rows) * LINE + LINE}" fill="#0d1117"/>',
            '</g></svg>', '</svg>']
    return '\n'.join(out) + '\n'


def render(events) -> str:
    """The SVG of a capture."""
    return svg(paced(wrapped(lines_of(events))))


def main(argv=None) -> int:
    """Returns the exit status."""
    p = argparse.ArgumentParser(prog='record-demo', description=__doc__.split('\n', 2)[2])
    p.add_argument('--out', type=Path, default=TOP / 'docs/demo.svg', metavar='FILE',
                   help='default docs/demo.svg')
    p.add_argument('--save', type=Path, metavar='FILE', help='also write the capture, as JSON')
    p.add_argument('--from', type=Path, dest='source', metavar='FILE',
                   help='render this capture; nothing is run')
    args = p.parse_args(argv)
    if args.source:
        events = json.loads(args.source.read_text(encoding='utf-8'))
    else:
        events = capture([str(TOOLS / 'demo')])
    if args.save:
        args.save.write_text(json.dumps(events), encoding='utf-8')
    text = render(events)
    args.out.write_text(text, encoding='utf-8')
    print(f'{args.out}: {len(text) // 1024} KB')
    return 0
