# SPDX-License-Identifier: GPL-2.0-or-later
"""What this checkout's tools share: steps with a limit, the cache, kernels, QEMU, images.

The standard library is enough for it. A program of tools/ finds it beside
itself; one elsewhere puts tools/ on sys.path.
"""
