// SPDX-License-Identifier: GPL-2.0-or-later
/* eadm: diagnostics of the Elastic RDMA Adapter. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "run.h"

/*
 * A caller may have closed standard input, output or error. No file that is opened later may
 * get its number: output would end up in it. Reading and writing fail here as if closed.
 */
static void reserve_standard(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	struct opts opt = opts_of_environment();

	reserve_standard();
	/* A reader that goes away must not kill us half-way through a line */
	signal(SIGPIPE, SIG_IGN);
	return run_words(argc, argv, &opt);
}
