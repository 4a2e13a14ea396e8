# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things are."""
import os
import re

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TOP, 'build')
LOGS = os.path.join(BUILD, 'check')


def relative(path):
    """A path below the checkout, for messages."""
    return os.path.relpath(path, TOP)


def slug(text):
    """A file name made of any text."""
    return re.sub(r'[^A-Za-z0-9_.-]+', '_', text.replace('.py::', '-')).strip('_')[:150]
