/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What AddressSanitizer does in eadm-fake unless ASAN_OPTIONS says otherwise: it searches for no
 * leaks, which takes longer than most commands. Tests that want the search say so.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
