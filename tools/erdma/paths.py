# SPDX-License-Identifier: GPL-2.0-or-later
"""Places in this checkout."""
from pathlib import Path

#: The top of the checkout.
TOP = Path(__file__).resolve().parents[2]
#: What builds and tests write; never part of the source.
BUILD = TOP / 'build'
TOOLS = TOP / 'tools'
MODEL = TOP / 'qemu-model'
