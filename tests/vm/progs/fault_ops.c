// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations for faults.c: the driver's life, a connection with data, the diagnostics. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "faults.h"
#include "fixture.h"
#include "uapi/erdma_diag.h"

#define RECOVERY_MS	60000
#define SETTLE_MS	2000
#define HOLD_S		40
#define UNBIND		"/sys/bus/pci/drivers/erdma/unbind"
#define BIND		"/sys/bus/pci/drivers/erdma/bind"

/* ---- probe and removal ------------------------------------------------------ */

static int probe(void)
{
	return write_word(BIND, arg1);
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
		int err = write_word(UNBIND, arg1);

		EXPECT(!err, "unbind: %s", strerror(err));
	}
	return true;
}

/*
 * Has a connection and its objects until it is killed, or its parent ends; or for HOLD_S
 * seconds. rdma_ucm does not destroy the identifier of a process if it has no memory for
 * the event DEVICE_REMOVAL (Linux 6.1, ucma_event_handler()): the removal of any RDMA
 * device then waits until the process closes its file.
 */
static void hold_connection(int ready)
{
	struct fixture t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fixture_set_addresses(arg2);
	alarm(HOLD_S);
	if (fixture_open(&t, 65536, (struct pair_options){}) && write(ready, "", 1) == 1)
		pause();
	_exit(1);
}

static int hold_prepare(void)
{
	struct pollfd p = { .events = POLLIN };
	int ready[2];
	pid_t pid;

	if (pipe(ready))
		return errno;
	pid = fork();
	if (pid < 0)
		return errno;
	if (!pid) {
		close(ready[0]);
		hold_connection(ready[1]);
	}
	close(ready[1]);
	p.fd = ready[0];
	return poll(&p, 1, RECOVERY_MS) == 1 && p.revents & POLLIN ? 0 : EIO;
}

static int remove_run(void)
{
	return write_word(UNBIND, arg1);
}

/* It cannot fail once the driver was asked; the file may not be to be opened. */
static bool remove_after(enum outcome o)
{
	int err;

	EXPECT(is_bound() == (o == HIT_AND_FAILED), "the function is %s",
	       is_bound() ? "bound although it was taken away" : "not bound");
	if (is_bound())
		return true;
	err = write_word(BIND, arg1);
	EXPECT(!err, "bind: %s", strerror(err));
	return true;
}

/* ---- reset ------------------------------------------------------------------- */

static int recovered_before, failed_before;

/* One of the driver's counters; -1: there is no device. */
static int counter(const char *name)
{
	char path[256], text[16] = "";
	glob_t found = {};
	int n = -1, fd;

	snprintf(path, sizeof(path),
		 "/sys/bus/pci/devices/%s/infiniband/*/ports/1/hw_counters/%s", arg1, name);
	if (!glob(path, 0, NULL, &found)) {
		fd = open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
			n = atoi(text);
		if (fd >= 0)
			close(fd);
	}
	globfree(&found);
	return n;
}

static int recovered(void)
{
	return counter("recovered");
}

static bool wait_recovered(int before, int ms)
{
	for (; recovered() <= before && ms > 0; ms -= 20)
		usleep(20000);
	return ms > 0;
}

static int request_reset(void)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", arg1);
	return write_word(path, "1");
}

static int reset_prepare(void)
{
	recovered_before = recovered();
	failed_before = counter("recovery_failed");
	return recovered_before < 0 ? ENODEV : hold_prepare();
}

/*
 * A try that fails is followed by another one after 5 s: there is no need to wait for it,
 * as reset_after() asks for one.
 */
static int reset_settle(bool struck)
{
	if (!wait_recovered(recovered_before, struck ? 1500 : RECOVERY_MS))
		return EIO;
	return counter("recovery_failed") > failed_before ? EIO : 0;
}

/*
 * One more reset, and all is well: also after a recovery that succeeded, because the RDMA
 * core goes on without a client (ib_uverbs, rdma_cm) that found no memory.
 */
static bool reset_after(enum outcome o)
{
	int before, err;

	if (o == DONE)
		return true;
	before = recovered();
	err = request_reset();
	EXPECT(!err, "reset: %s", strerror(err));
	EXPECT(wait_recovered(before, RECOVERY_MS), "no device after another reset");
	/* It met a recovery that was late: the device that is there may be the one it hit */
	if (o == HIT_AND_FAILED)
		wait_recovered(recovered(), SETTLE_MS);
	EXPECT(recovered() >= 0, "no device after another reset");
	return true;
}

/* ---- the module --------------------------------------------------------------- */

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

/* ---- data, diagnostics ---------------------------------------------------------- */

static bool some_data(struct fixture *t)
{
	struct ibv_sge from = sge_of(&t->a, 0, 4096), to = sge_of(&t->b, 0, 4096);

	if (!post_recv(&t->p.b, to, 1) || !post(&t->p.a, signaled(IBV_WR_SEND, 2, &from, 1)))
		return false;
	return done(&t->p.a, 2, IBV_WC_SEND, NULL) && done(&t->p.b, 1, IBV_WC_RECV, NULL);
}

static int verbs_prepare(void)
{
	fixture_set_addresses(arg1);
	return 0;
}

static int verbs(void)
{
	return with_fixture(65536, (struct pair_options){}, some_data) ? 0 : EIO;
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

const struct operation driver_operations[] = {
	{ "probe", 1, true, NULL, probe, NULL, probe_after },
	{ "remove", 2, true, hold_prepare, remove_run, NULL, remove_after },
	{ "reset", 2, true, reset_prepare, request_reset, reset_settle, reset_after },
	{ "load", 2, true, NULL, load, NULL, load_after },
	{ "verbs", 1, false, verbs_prepare, verbs, NULL, NULL },
	{ "diag", 1, false, NULL, diag, NULL, NULL },
	{ }
};
