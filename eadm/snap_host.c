// SPDX-License-Identifier: GPL-2.0-or-later
/* What the host knows of an adapter and of the owners of its objects: /proc, /sys, addresses. */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "erdma/erdma_snapshot.h"

#include "ifaddr.h"
#include "snap_system.h"
#include "snap_take.h"

/* ---- the adapter ------------------------------------------------------------ */

static void add_addresses(struct snap_lines *l, const struct dev *d)
{
	struct ifaddrs *all, *a;
	char text[INET_ADDRSTRLEN];
	const struct sockaddr_in *in;

	if (!d->netdev[0] || getifaddrs(&all))
		return;
	for (a = all; a; a = a->ifa_next) {
		if (!is_ipv4_of(a, d->netdev))
			continue;
		in = (const void *)a->ifa_addr;
		if (inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)))
			lines_add(l, FC_IP, "address", "%s", text);
		lines_add(l, FC_PLAIN, "up", "%d", !!(a->ifa_flags & IFF_UP));
	}
	freeifaddrs(all);
}

static bool all_digits(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (s[i] < '0' || s[i] > '9')
			return false;
	return n;
}

/* "24: 11 0 ... erdma-common@pci:0000:00:05.0": the sum over all CPUs */
static void add_interrupts(struct snap_lines *l, const struct dev *d)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char *line = NULL, *word, *save, name[32];
	unsigned long long sum;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		if (!strstr(line, "erdma") || !strstr(line, d->pci))
			continue;
		word = strtok_r(line, " \n", &save);
		snprintf(name, sizeof(name), "irq.%.*s", word ? (int)strcspn(word, ":") : 0, word);
		for (sum = 0; (word = strtok_r(NULL, " \n", &save)) &&
		     all_digits(word, strlen(word));)
			sum += strtoull(word, NULL, 10);
		lines_add(l, FC_PLAIN, name, "%llu", sum);
	}
	free(line);
	if (f)
		fclose(f);
}

struct irq_cpus {
	struct snap_lines *l;
	struct source *src;
	const struct dev *d;
};

/* Of an interrupt that has one CPU */
static void add_irq_cpu(void *arg, uint32_t id, const struct rec *rec)
{
	const struct irq_cpus *all = arg;
	struct erdma_diag_eq eq;
	char name[32];
	int cpu;

	(void)id;
	if (rec->type != ERDMA_DIAG_REC_EQ)
		return;
	rec_copy(rec, &eq, sizeof(eq));
	cpu = all->src->ops->irq_cpu(all->src, all->d, eq.irq);
	snprintf(name, sizeof(name), "irq_cpu.%u", eq.irq);
	if (cpu >= 0)
		lines_add(all->l, FC_PLAIN, name, "%d", cpu);
}

static void add_irq_cpus(struct taking *t, struct snap_lines *l, struct dev *d)
{
	struct source *src = &t->c->src;
	struct irq_cpus all = { .l = l, .src = src, .d = d };

	/* The list was taken before, or the reason is there why it could not be had */
	if (src->ops->irq_cpu && d->info.size)
		source_list(src, d, ERDMA_DIAG_OBJ_EQ, 0, UINT32_MAX, add_irq_cpu, &all);
}

/**
 * take_system - what the host has for its devices
 * @t: file
 */
void take_system(struct taking *t)
{
	struct snap_lines l = take_lines(t);
	struct source *src = &t->c->src;
	struct host h;

	if (!src->ops->host || src->ops->host(src, &h))
		return;
	system_write(&l, &h);
	take_put_lines(t, ERDMA_SNAP_SYSTEM, ERDMA_SNAP_NO_DEV, 0, &l);
}

/**
 * take_host - the interface, addresses and interrupts of an adapter
 * @t: file
 * @d: adapter
 * @dev: its number
 */
void take_host(struct taking *t, struct dev *d, uint32_t dev)
{
	struct snap_lines l = take_lines(t);

	add_addresses(&l, d);
	add_interrupts(&l, d);
	add_irq_cpus(t, &l, d);
	if (l.len)
		take_put_lines(t, ERDMA_SNAP_HOST, dev, 0, &l);
}

/* ---- owners ----------------------------------------------------------------- */

static void add_text(struct snap_lines *l, enum field_class cls, const char *name, const char *text)
{
	if (*text)
		lines_add(l, cls, name, "%s", text);
}

static void add_number(struct snap_lines *l, const char *name, uint64_t v)
{
	lines_add(l, FC_PLAIN, name, "%llu", (unsigned long long)v);
}

/**
 * take_process - an owner of objects
 * @t: file
 * @d: device
 * @dev: its number
 * @pid: process id of the owner
 */
void take_process(struct taking *t, const struct dev *d, uint32_t dev, uint32_t pid)
{
	struct snap_lines l = take_lines(t);
	struct process p;
	const char *id;
	char number[16];

	snprintf(number, sizeof(number), "%u", pid);
	id = t->redact ? redact_text(t->redact, FC_PID, number) : number;
	if (!id)
		return;
	if (t->c->src.ops->process(&t->c->src, d, pid, true, &p))
		return;
	add_text(&l, FC_COMM, "comm", p.comm);
	if (p.state) {
		lines_add(&l, FC_PLAIN, "state", "%c", p.state);
		add_number(&l, "utime_ticks", p.utime);
		add_number(&l, "stime_ticks", p.stime);
		add_number(&l, "threads", p.threads);
		add_number(&l, "held_us", p.held_us);
	}
	add_text(&l, FC_PLAIN, "pinned", p.pinned);
	add_text(&l, FC_PLAIN, "locked_limits", p.limits);
	if (p.net_ns)
		add_number(&l, "net", p.net_ns);
	if (p.pid_ns)
		add_number(&l, "pid", p.pid_ns);
	if (l.len)
		take_put_lines(t, ERDMA_SNAP_PROCESS, dev, (uint32_t)strtoul(id, NULL, 10), &l);
}
