# SPDX-License-Identifier: GPL-2.0-or-later
"""Signals of a program that a test runs."""

#: In front of a program: signals as a shell at a terminal gives them to it. What runs the tests may
#: ignore some, as nohup does, or a shell for its background jobs; programs inherit that, and eadm
#: respects it.
DEFAULT_SIGNALS = ('env', '--default-signal=HUP,INT,QUIT,TERM,TSTP')
