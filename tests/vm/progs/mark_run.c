// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mark_run TAG NAME BATCHES COMMAND...: runs a command so many times, each run between
 * marks of tools/plugin, without its output. Prints "cost TAG NAME 1", and "cpu NAME US",
 * the least microseconds of a processor that a run took, of the kernel and of the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "mark.h"

static long micros(const struct timeval *t)
{
	return t->tv_sec * 1000000l + t->tv_usec;
}

static int run(char **argv, long *cpu)
{
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (dup2(open("/dev/null", O_WRONLY), 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return -1;
	*cpu = micros(&usage.ru_utime) + micros(&usage.ru_stime);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
	int batches = argc > 4 ? atoi(argv[3]) : 0;
	unsigned int tag = argc > 4 ? (unsigned int)atoi(argv[1]) : 0;
	long cpu = 0, least = LONG_MAX;
	int status;

	if (batches < 1) {
		fprintf(stderr, "usage: %s TAG NAME BATCHES COMMAND...\n", argv[0]);
		return 2;
	}
	for (int i = 0; i <= batches; i++) {
		mark_begin(i ? tag : 0);
		status = run(argv + 4, &cpu);
		mark_end();
		if (status) {
			fprintf(stderr, "%s: status %d (%s)\n", argv[4], status, strerror(errno));
			return 1;
		}
		if (cpu < least)
			least = cpu;
	}
	printf("cost %u %s 1\ncpu %s %ld\n", tag, argv[2], argv[2], least);
	return 0;
}
