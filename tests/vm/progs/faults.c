// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lets every fault point of an operation fail once: faults OPERATION [ARGUMENT]
 *
 *	faults [-f FIRST] [-s STEP] probe BDF		bind the driver to a function
 *	faults [-f FIRST] [-s STEP] load FILE NAME	load a module
 *	faults [-f FIRST] [-s STEP] verbs ADDRESS	connect, move data, disconnect
 *	faults [-f FIRST] [-s STEP] diag NODE		every diagnostics call
 *	faults -o OPERATION...				once, without a fault
 *
 * A fault point is anything that fault injection of the kernel can fail in the
 * context of the calling thread: an allocation, a copy from or to user space.
 * Writing N to
 * /proc/thread-self/fail-nth fails the Nth of them. N counts up until an
 * operation ends before it gets there; each try is in a process of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "uapi/erdma_diag.h"

#define TRY_LIMIT_S	120	/* for one try; twice the longest wait in the kernel */
#define MAX_POINTS	20000
#define MANY_POINTS	100

/* Exit status of a try: what the fault did to the operation. */
enum outcome { DONE, HIT_AND_DONE, HIT_AND_FAILED, BROKEN };

static const char *arg1, *arg2;

/* ---- operations: 0 or an errno --------------------------------------------- */

static int write_word(const char *path, const char *word)
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

static int probe(void)
{
	return write_word("/sys/bus/pci/drivers/erdma/bind", arg1);
}

static bool is_bound(void)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", arg1);
	return !access(path, F_OK);
}

/* What the try said about the probe must be so. */
static bool probe_after(enum outcome o)
{
	EXPECT(is_bound() == (o != HIT_AND_FAILED), "the function is %s",
	       is_bound() ? "bound although the probe failed" : "not bound");
	if (is_bound()) {
		int err = write_word("/sys/bus/pci/drivers/erdma/unbind", arg1);

		EXPECT(!err, "unbind: %s", strerror(err));
	}
	return true;
}

static int load(void)
{
	int fd = open(arg1, O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return errno;
	if (syscall(SYS_finit_module, fd, "", 0))
		err = errno;
	close(fd);
	return err;
}

static bool load_after(enum outcome o)
{
	bool unloaded = !syscall(SYS_delete_module, arg2, O_NONBLOCK);

	EXPECT(unloaded == (o != HIT_AND_FAILED), "the module was %s",
	       unloaded ? "there although loading failed" : "not there");
	return true;
}

static bool some_data(struct bed *t)
{
	struct ibv_sge from = sge_of(&t->a, 0, 4096), to = sge_of(&t->b, 0, 4096);

	if (!post_recv(&t->p.b, to, 1) || !post(&t->p.a, signaled(IBV_WR_SEND, 2, &from, 1)))
		return false;
	return done(&t->p.a, 2, IBV_WC_SEND, NULL) && done(&t->p.b, 1, IBV_WC_RECV, NULL);
}

static int verbs(void)
{
	return with_bed(65536, (struct pair_options){}, some_data) ? 0 : EIO;
}

static int diag_lists(int fd, void *buf, uint32_t len)
{
	int err = 0;

	for (uint32_t obj = ERDMA_DIAG_OBJ_QP; obj <= ERDMA_DIAG_OBJ_CMDQ; obj++) {
		struct erdma_diag_list l = {
			.size = sizeof(l), .obj = obj, .buf = (uintptr_t)buf, .buf_len = len,
		};
		struct erdma_diag_context c = {
			.size = sizeof(c), .obj = obj, .flags = ERDMA_DIAG_CONTEXT_HW,
			.id = obj == ERDMA_DIAG_OBJ_CMDQ ? 0 : 1,
			.buf = (uintptr_t)buf, .buf_len = len,
		};

		if (ioctl(fd, ERDMA_DIAG_LIST, &l) && obj != ERDMA_DIAG_OBJ_CMDQ)
			err = errno;
		if (ioctl(fd, ERDMA_DIAG_CONTEXT, &c) && errno != ENOENT)
			err = errno;
	}
	return err;
}

static int diag_rings(int fd, void *buf, uint32_t len)
{
	int err = 0;

	for (uint32_t ring = ERDMA_DIAG_RING_SQ; ring <= ERDMA_DIAG_RING_CMDQ_CQ; ring++) {
		struct erdma_diag_ring_read r = {
			.size = sizeof(r), .ring = ring, .count = 4,
			.id = ring >= ERDMA_DIAG_RING_CMDQ_SQ ? 0 : 1,
			.buf = (uintptr_t)buf, .buf_len = len,
		};

		if (ioctl(fd, ERDMA_DIAG_RING_READ, &r) && errno != ENOENT)
			err = errno;
	}
	return err;
}

static int diag(void)
{
	static uint8_t buf[65536];
	struct erdma_diag_info info = { .size = sizeof(info) };
	struct erdma_diag_debug debug = { .size = sizeof(debug) };
	int fd = open(arg1, O_RDONLY | O_CLOEXEC);
	int err = 0, more;

	if (fd < 0)
		return errno;
	if (ioctl(fd, ERDMA_DIAG_INFO, &info) || ioctl(fd, ERDMA_DIAG_DEBUG, &debug))
		err = errno;
	more = diag_lists(fd, buf, sizeof(buf));
	err = more ? more : err;
	more = diag_rings(fd, buf, sizeof(buf));
	close(fd);
	return more ? more : err;
}

static const struct operation {
	const char *name;
	int args;
	int (*run)(void);
	bool (*after)(enum outcome o);
} operations[] = {
	{ "probe", 1, probe, probe_after },
	{ "load", 2, load, load_after },
	{ "verbs", 1, verbs, NULL },
	{ "diag", 1, diag, NULL },
};

/* ---- one try ----------------------------------------------------------------- */

/* In the child. The calls around the operation may be hit as well: then the
 * fault is gone, and the operation went well.
 */
static enum outcome with_fault(const struct operation *op, unsigned int n)
{
	int fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	char text[16];
	ssize_t len;
	int err;

	if (fd < 0)
		return BROKEN;
	snprintf(text, sizeof(text), "%u", n);
	if (write(fd, text, strlen(text)) < 0)
		return BROKEN;
	err = op->run();
	len = pread(fd, text, sizeof(text) - 1, 0);
	if (len < 0 && errno == EFAULT)
		return DONE;		/* the fault hit this call: it was not reached */
	if (len <= 0)
		return BROKEN;
	text[len] = '\0';
	if (atoi(text))
		return err ? BROKEN : DONE;
	return err ? HIT_AND_FAILED : HIT_AND_DONE;
}

/* Where the threads of a process wait, in the kernel. */
static void tell_where(pid_t pid)
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
		tell_where(pid);
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
		return op->after ? -1 : 1;
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

static int run(const struct operation *op, unsigned int first, unsigned int stride)
{
	struct tally t = {};
	unsigned int n;
	bool good;
	int more = 1;

	printf("1..1\n");
	for (n = first; more > 0 && n < MAX_POINTS; n += stride)
		more = step(op, n, &t);
	/* No end, no fault that struck, or none of many that mattered: the test itself is
	 * broken. Of a few points that data meets, one in twelve matters.
	 */
	good = !more && (t.failed || (t.done && t.done < MANY_POINTS));
	printf("%sok 1 - %s: %u of about %u fault points, %u failed it, %u did not, %u ended the program\n",
	       good ? "" : "not ", op->name, t.tries - 1, n, t.failed, t.done, t.crashed);
	return !good;
}

int main(int argc, char **argv)
{
	unsigned int first = 1, stride = 1;
	bool once = false;
	int c;

	while ((c = getopt(argc, argv, "f:os:")) != -1) {
		if (c == 'o')
			once = true;
		if (c == 'f')
			first = (unsigned int)atoi(optarg);
		else if (c == 's')
			stride = (unsigned int)atoi(optarg);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		const struct operation *op = &operations[i];

		if (optind >= argc || strcmp(argv[optind], op->name) ||
		    argc - optind - 1 != op->args || !first || !stride)
			continue;
		arg1 = argv[optind + 1];
		arg2 = op->args > 1 ? argv[optind + 2] : NULL;
		if (!strcmp(op->name, "verbs"))
			bed_set_addresses(arg1);
		return once ? op->run() != 0 : run(op, first, stride);
	}
	fprintf(stderr, "usage: %s [-o] [-f FIRST] [-s STEP] probe|load|verbs|diag ARGUMENT...\n", argv[0]);
	return 2;
}
