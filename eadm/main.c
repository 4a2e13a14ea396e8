// SPDX-License-Identifier: GPL-2.0-or-later
/* eadm: diagnostics of the Elastic RDMA Adapter. */
#include <signal.h>

#include "run.h"

int main(int argc, char **argv)
{
	struct opts opt = opts_of_environment();

	/* A reader that goes away must not kill us half-way through a line */
	signal(SIGPIPE, SIG_IGN);
	return run_words(argc, argv, &opt);
}
