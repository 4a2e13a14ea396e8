// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lets every fault point of an operation fail once: faults OPERATION [ARGUMENT]
 *
 *	faults [-f FIRST] [-s STEP] probe BDF		bind the driver to a function
 *	faults [-f FIRST] [-s STEP] remove BDF ADDRESS	unbind it, while a process has a connection
 *	faults [-f FIRST] [-s STEP] reset BDF ADDRESS	reset it then; a fresh device follows
 *	faults [-f FIRST] [-s STEP] load FILE NAME	load a module
 *	faults [-f FIRST] [-s STEP] verbs ADDRESS	connect, move data, disconnect
 *	faults [-f FIRST] [-s STEP] diag NODE		every diagnostics call
 *	faults [-f FIRST] [-s STEP] create-KIND ADDRESS	make one object (fault_objects.c)
 *	faults [-f FIRST] [-e END] OPERATION...		points from FIRST to before END
 *	faults -w OPERATION...				points of what nth_fault.ko names
 *	faults -o OPERATION...				once, without a fault
 *
 * A fault point is anything that fault injection of the kernel can fail in the
 * context of the calling thread: an allocation, a copy from or to user space.
 * Writing N to /proc/thread-self/fail-nth fails the Nth of them; with -w it is the
 * Nth of a function of the driver that a thread of the kernel runs
 * (tests/kernel/nth_fault). N counts up until an operation ends before it gets
 * there; each try is in a process of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"
#include "fixture.h"

#define TRY_LIMIT_S	120	/* for one try; twice the longest wait in the kernel */
#define MAX_POINTS	20000
#define MANY_POINTS	100
#define NTH_FAULT	"/sys/module/nth_fault/parameters/nth"

const char *arg1, *arg2;
static bool of_work;		/* -w */

int write_word(const char *path, const char *word)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, word, strlen(word)) != (ssize_t)strlen(word))
		err = errno;
	close(fd);
	return err;
}

/* ---- the fault ---------------------------------------------------------------- */

enum fate { NOT_REACHED, STRUCK, UNKNOWN };

/* Of the calling thread: a descriptor that fault_end() needs, -1 is an error. */
static int fault_begin(unsigned int n)
{
	const char *path = of_work ? NTH_FAULT : "/proc/thread-self/fail-nth";
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	if (fd >= 0 && write(fd, text, strlen(text)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The calls around the operation may be hit as well: then the fault is gone. */
static enum fate thread_fault_end(int fd)
{
	char text[16] = "";
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	if (len < 0 && errno == EFAULT)
		return NOT_REACHED;	/* it hit this call */
	if (len <= 0)
		return UNKNOWN;
	if (!atoi(text))
		return STRUCK;
	/* May fail, too; the fault is gone then */
	return pwrite(fd, "0", 1, 0) < 0 && errno != EFAULT ? UNKNOWN : NOT_REACHED;
}

/* Work may still wait to run, or run. */
static enum fate work_fault_end(int fd)
{
	char text[32];

	for (int i = 0; i < TRY_LIMIT_S * 50; i++) {
		ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

		if (len <= 0)
			return UNKNOWN;
		text[len] = '\0';
		if (!strncmp(text, "left", 4))
			return NOT_REACHED;
		if (!strncmp(text, "struck", 6))
			return STRUCK;
		usleep(20000);
	}
	return UNKNOWN;			/* never called */
}

/* ---- one try ----------------------------------------------------------------- */

/* In the child. */
static enum outcome with_fault(const struct operation *op, unsigned int n)
{
	enum fate fate;
	int fd, err;

	if (op->prepare && op->prepare())
		return BROKEN;
	fd = fault_begin(n);
	if (fd < 0)
		return BROKEN;
	err = op->run();
	fate = of_work ? work_fault_end(fd) : thread_fault_end(fd);
	if (!err && op->settle)
		err = op->settle(fate == STRUCK);
	if (fate == UNKNOWN)
		return BROKEN;
	if (fate == NOT_REACHED)
		return err ? BROKEN : DONE;
	return err ? HIT_AND_FAILED : HIT_AND_DONE;
}

/* Where the threads of a process wait, in the kernel. */
static void print_stacks(pid_t pid)
{
	char cmd[96];

	fflush(stdout);
	snprintf(cmd, sizeof(cmd), "cd /proc/%d/task && grep . */wchan */stack | sed 's/^/# /'", pid);
	if (system(cmd))
		printf("# no stack\n");
}

/* The status of a child, or -1 when it did not end in time. */
static int wait_for(pid_t pid)
{
	int status = 0, fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	bool ended = fd >= 0 && poll(&p, 1, TRY_LIMIT_S * 1000) == 1;

	if (!ended) {
		print_stacks(pid);
		kill(pid, SIGKILL);
	}
	if (fd >= 0)
		close(fd);
	waitpid(pid, &status, 0);
	return ended ? status : -1;
}

static int try(const struct operation *op, unsigned int n)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid < 0 ? -1 : wait_for(pid);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* What a failed operation has to say is expected. */
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		_exit(BROKEN);
	_exit(with_fault(op, n));
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct tally {
	unsigned int tries, failed, done, crashed;
};

/* 1: go on, 0: the operation has no more fault points, -1: something is wrong. */
static int step(const struct operation *op, unsigned int n, struct tally *t)
{
	double begin = now();
	int status = try(op, n);
	enum outcome o;

	t->tries++;
	if (status < 0) {
		printf("# point %u: not finished after %d s\n", n, TRY_LIMIT_S);
		return -1;
	}
	if (now() - begin > 10)
		printf("# point %u: %.1f s\n", n, now() - begin);
	/* A library that does not expect the failure: not the kernel's fault. */
	if (WIFSIGNALED(status)) {
		t->crashed++;
		return op->ordered ? -1 : 1;
	}
	o = (enum outcome)WEXITSTATUS(status);
	if (o == BROKEN) {
		printf("# point %u: the operation failed without a fault\n", n);
		return -1;
	}
	if (op->after && !op->after(o)) {
		printf("# point %u\n", n);
		return -1;
	}
	t->failed += o == HIT_AND_FAILED;
	t->done += o == HIT_AND_DONE;
	return o != DONE;
}

/* Which fault points: first, first + stride, ... below end; end 0 is all that there are. */
struct range {
	unsigned int first, stride, end;
};

/* No fault that struck, or none of many that mattered: the test itself is broken. Of a few points
 * that data meets, one in twelve matters; of a part of the points perhaps none.
 */
static bool faults_mattered(const struct range *r, const struct tally *t)
{
	return t->failed || (t->done && (t->done < MANY_POINTS || r->first > 1));
}

static int run(const struct operation *op, const struct range *r)
{
	unsigned int n, end = r->end ? r->end : MAX_POINTS;
	struct tally t = {};
	int more = 1;
	bool good;

	printf("1..1\n");
	for (n = r->first; more > 0 && n < end; n += r->stride)
		more = step(op, n, &t);
	/* The operation has an end before MAX_POINTS */
	good = (!more || (more > 0 && r->end)) && faults_mattered(r, &t);
	printf("%sok 1 - %s: %u fault points from %u to about %u, %u failed it, %u did not, %u ended the program\n",
	       good ? "" : "not ", op->name, t.failed + t.done + t.crashed, r->first, n, t.failed,
	       t.done, t.crashed);
	return !good;
}

static const struct operation *find_operation(const char *name, int args)
{
	const struct operation *lists[] = { driver_operations, object_operations };

	for (size_t i = 0; i < 2; i++)
		for (const struct operation *op = lists[i]; op->name; op++)
			if (!strcmp(name, op->name) && args == op->args)
				return op;
	return NULL;
}

/* In this process, without a fault. */
static int run_once(const struct operation *op)
{
	int err = op->prepare ? op->prepare() : 0;

	if (!err)
		err = op->run();
	if (!err && op->settle)
		err = op->settle(false);
	if (err)
		fprintf(stderr, "%s: %s\n", op->name, strerror(err));
	return err != 0;
}

int main(int argc, char **argv)
{
	struct range range = { .first = 1, .stride = 1 };
	const struct operation *op;
	bool once = false;
	int c;

	while ((c = getopt(argc, argv, "e:f:os:w")) != -1) {
		if (c == 'o')
			once = true;
		else if (c == 'w')
			of_work = true;
		else if (c == 'e')
			range.end = (unsigned int)atoi(optarg);
		else if (c == 'f')
			range.first = (unsigned int)atoi(optarg);
		else if (c == 's')
			range.stride = (unsigned int)atoi(optarg);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	op = optind < argc ? find_operation(argv[optind], argc - optind - 1) : NULL;
	if (!op || !range.first || !range.stride) {
		fprintf(stderr,
			"usage: %s [-o] [-w] [-f FIRST] [-e END] [-s STEP] OPERATION ARGUMENT...\n",
			argv[0]);
		return 2;
	}
	arg1 = argv[optind + 1];
	arg2 = op->args > 1 ? argv[optind + 2] : NULL;
	return once ? run_once(op) : run(op, &range);
}
