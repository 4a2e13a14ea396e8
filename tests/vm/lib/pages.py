# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of docs/guide whose patches, code and commands are tested."""
import re
import subprocess

LIMIT = 600             # seconds of one command


def section(page, title):
    """Text below a heading of the page."""
    return re.search(rf'(?ms)^## {re.escape(title)}$(.*?)(?=^## |\Z)', page)[1]


def blocks(text, language):
    """Code blocks whose first line says the language."""
    return re.findall(rf'(?ms)^```{re.escape(language)}\n(.*?)^```$', text)


def commands(text, language='console'):
    """[(command, [what it prints])] of the console blocks."""
    found = []
    for line in ''.join(blocks(text, language)).splitlines():
        if line.startswith('$ '):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line.strip())
    return found


def run(argv, folder, **more):
    """Run a program in the folder; returns the ended process, all that it printed as text."""
    return subprocess.run(argv, cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, timeout=LIMIT, **more)


def walk(text, folder):
    """Run the commands of a text in the folder: each succeeds and prints what the text says."""
    for command, words in commands(text):
        done = run(['bash', '-c', command], folder, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, f'{command}: status {done.returncode}\n{done.stdout[-3000:]}'
        for word in words:
            assert word in done.stdout, f'{command}: no "{word}" in\n{done.stdout[-3000:]}'
