# SPDX-License-Identifier: GPL-2.0-or-later
"""Tools of the project: what builds products and drives VMs."""
