/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One command line, from its words to its exit status. */
#ifndef EADM_RUN_H
#define EADM_RUN_H

#include "cmd.h"

struct opts opts_of_environment(void);
enum exit_code run_words(int argc, char **argv, const struct opts *opt);

#endif /* EADM_RUN_H */
