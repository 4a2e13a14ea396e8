/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A firewall for TCP that comes to this host, as "iptables -A INPUT -p tcp -j REJECT", or DROP, makes it: guests
 * have no iptables. It replaces all of the table "filter".
 *
 *     firewall none                      everything is accepted
 *     firewall port-unreachable          as REJECT does without an option
 *     firewall host-prohibited           as firewalld does
 *     firewall proto-unreachable
 *     firewall tcp-reset
 *     firewall drop                      nothing is sent back
 */
#include <err.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/netfilter_ipv4/ip_tables.h>
#include <linux/netfilter_ipv4/ipt_REJECT.h>

struct verdict {
	struct ipt_entry e;
	struct xt_standard_target t;
};

struct reject {
	struct ipt_entry e;
	struct xt_entry_target t;
	struct ipt_reject_info info __attribute__((aligned(8)));
};

struct last {
	struct ipt_entry e;
	struct xt_error_target t;
};

/* The rule, then what each chain does without one */
struct table {
	struct ipt_replace head;
	union {
		struct verdict plain;
		struct reject reject;
	} tcp;
	struct verdict input, forward, output;
	struct last last;
};

static const struct {
	const char *name;
	enum ipt_reject_with with;
} ways[] = {
	{ "port-unreachable", IPT_ICMP_PORT_UNREACHABLE },
	{ "host-prohibited", IPT_ICMP_HOST_PROHIBITED },
	{ "proto-unreachable", IPT_ICMP_PROT_UNREACHABLE },
	{ "tcp-reset", IPT_TCP_RESET },
};

static void verdict_of(struct verdict *v, int verdict)
{
	v->e.target_offset = offsetof(struct verdict, t);
	v->e.next_offset = sizeof(*v);
	v->t.target.u.target_size = sizeof(v->t);
	v->t.verdict = -verdict - 1;
}

static void reject_with(struct reject *r, enum ipt_reject_with with)
{
	r->e.target_offset = offsetof(struct reject, t);
	r->e.next_offset = sizeof(*r);
	r->t.u.user.target_size = sizeof(*r) - offsetof(struct reject, t);
	strcpy(r->t.u.user.name, "REJECT");
	r->info.with = with;
}

static void end_table(struct last *l)
{
	l->e.target_offset = offsetof(struct last, t);
	l->e.next_offset = sizeof(*l);
	l->t.target.u.user.target_size = sizeof(l->t);
	strcpy(l->t.target.u.user.name, XT_ERROR_TARGET);
	strcpy(l->t.errorname, "ERROR");
}

static unsigned int at(size_t offset)
{
	return (unsigned int)(offset - offsetof(struct table, tcp));
}

static void replace(struct table *t)
{
	struct ipt_getinfo old = { .name = "filter" };
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	struct ipt_replace *h = &t->head;
	socklen_t len = sizeof(old);

	if (fd < 0 || getsockopt(fd, IPPROTO_IP, IPT_SO_GET_INFO, &old, &len))
		err(1, "the table filter");
	strcpy(h->name, old.name);
	h->valid_hooks = old.valid_hooks;
	h->num_entries = 5;
	h->size = sizeof(*t) - offsetof(struct table, tcp);
	h->hook_entry[NF_INET_LOCAL_IN] = at(offsetof(struct table, tcp));
	h->underflow[NF_INET_LOCAL_IN] = at(offsetof(struct table, input));
	h->hook_entry[NF_INET_FORWARD] = at(offsetof(struct table, forward));
	h->underflow[NF_INET_FORWARD] = at(offsetof(struct table, forward));
	h->hook_entry[NF_INET_LOCAL_OUT] = at(offsetof(struct table, output));
	h->underflow[NF_INET_LOCAL_OUT] = at(offsetof(struct table, output));
	h->num_counters = old.num_entries;
	h->counters = calloc(old.num_entries, sizeof(*h->counters));
	if (!h->counters || setsockopt(fd, IPPROTO_IP, IPT_SO_SET_REPLACE, t, sizeof(*t)))
		err(1, "a new table filter");
}

int main(int argc, char **argv)
{
	static struct table t;
	bool drop;
	size_t i;

	_Static_assert(sizeof(struct verdict) == sizeof(struct reject), "one place for both");
	drop = argc == 2 && !strcmp(argv[1], "drop");
	verdict_of(&t.tcp.plain, drop ? NF_DROP : NF_ACCEPT);
	verdict_of(&t.input, NF_ACCEPT);
	verdict_of(&t.forward, NF_ACCEPT);
	verdict_of(&t.output, NF_ACCEPT);
	end_table(&t.last);
	for (i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name)) {
			memset(&t.tcp, 0, sizeof(t.tcp));
			reject_with(&t.tcp.reject, ways[i].with);
			break;
		}
	if (argc != 2 ||
	    (i == sizeof(ways) / sizeof(ways[0]) && !drop && strcmp(argv[1], "none")))
		errx(2, "usage: firewall "
			"none|drop|port-unreachable|host-prohibited|proto-unreachable|tcp-reset");
	t.tcp.plain.e.ip.proto = IPPROTO_TCP;
	replace(&t);
	return 0;
}
