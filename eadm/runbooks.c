// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where it is written what to do about a rule that holds: pages of docs/runbooks. Rules with the
 * same cure share one. A static test compares this with the rules and the pages.
 */
#include "rules.h"

#define FOLDER	"runbooks/"	/* in docs, and in /usr/share/eadm */

static const char *const runbooks[RULE_COUNT] = {
	[RULE_NO_DRIVER] = "no-driver",
	[RULE_NO_RDMA] = "no-driver",
	[RULE_NO_NODE] = "no-driver",
	[RULE_NETNS_HIDDEN] = "namespaces",
	[RULE_WRONG_NETNS] = "namespaces",
	[RULE_MODULE_OTHER] = "module",
	[RULE_MODULE_OLD] = "module",
	[RULE_HEADERS_MISSING] = "module",
	[RULE_COMPAT_MODE] = "module",
	[RULE_PROVIDER_MISSING] = "libraries",
	[RULE_PROVIDER_OLD] = "libraries",
	[RULE_CMDQ_FULL] = "command-queue",
	[RULE_RECORDERS_OFF] = "recorders-off",
	[RULE_IRQS_ONE_CPU] = "interrupt-affinity",
	[RULE_PINNED_NEAR] = "locked-memory",
	[RULE_CQE_HIDDEN] = "lost-events",
	[RULE_CARD_GONE] = "card-gone",
	[RULE_CMDQ_DEAD] = "command-queue",
	[RULE_CMDQ_STUCK] = "command-queue",
	[RULE_CMDQ_SLOW] = "command-queue",
	[RULE_CMDQ_UNANSWERED] = "command-queue",
	[RULE_LINK_DOWN] = "interface",
	[RULE_NO_CARRIER] = "interface",
	[RULE_NO_ADDRESS] = "interface",
	[RULE_CARD_REPLACED] = "device-lost",
	[RULE_CARD_RESET] = "device-lost",
	[RULE_MTU_REFUSED] = "mtu",
	[RULE_LIMIT_REACHED] = "limits",
	[RULE_LIMIT_NEAR] = "limits",
	[RULE_RATE_LIMITED] = "rate-limit",
	[RULE_EVENT_HIDDEN] = "lost-events",
	[RULE_IRQ_LOST] = "lost-events",
	[RULE_IRQ_LOST_FOUND] = "lost-events",
	[RULE_CQ_EVENT_LOST_FOUND] = "lost-events",
	[RULE_KEY_DEREGISTERED] = "refused-request",
	[RULE_ACCESS_REFUSED] = "refused-request",
	[RULE_BAD_REQUEST] = "refused-request",
	[RULE_RETRY_EXCEEDED] = "no-answer",
	[RULE_PEER_ERROR] = "peer-error",
	[RULE_CQ_BROKEN] = "stopped-qp",
	[RULE_QP_STOPPED] = "stopped-qp",
	[RULE_OWNER_EXITED] = "owner-exited",
	[RULE_CM_REFUSED] = "connections",
	[RULE_CM_NO_SYN] = "connections",
	[RULE_CM_UNREACHABLE] = "connections",
	[RULE_CM_NO_REPLY] = "connections",
	[RULE_CM_REJECTED] = "connections",
	[RULE_CM_FOREIGN] = "connections",
	[RULE_CM_FOREIGN_REQUEST] = "connections",
	[RULE_CM_NO_REQUEST] = "connections",
	[RULE_CM_EARLY_DATA] = "connections",
	[RULE_CM_PEER_CLOSED] = "connections",
	[RULE_CM_NOT_ACCEPTED] = "connections",
	[RULE_CM_ACCEPT_LATE] = "connections",
	[RULE_CM_CALL_REFUSED] = "connections",
	[RULE_CM_NOT_PERMITTED] = "connections",
	[RULE_CM_GIVEN_UP] = "connections",
	[RULE_CM_QP_STOPPED] = "connections",
	[RULE_CM_NO_RTS] = "connections",
	[RULE_CM_DEVICE_GONE] = "connections",
	[RULE_CM_NO_MEMORY] = "connections",
	[RULE_CM_NO_PORT] = "connections",
	[RULE_CM_FAILED] = "connections",
	[RULE_CQ_EVENT_LOST] = "lost-events",
	[RULE_NO_RECEIVE] = "application",
	[RULE_CQ_NOT_TAKEN] = "application",
	[RULE_PROCESS_STOPPED] = "application",
	[RULE_PROCESS_FROZEN] = "application",
	[RULE_CPU_LIMIT] = "application",
	[RULE_PROCESS_BLOCKED] = "application",
	[RULE_EVENT_NOT_TAKEN] = "application",
	[RULE_APPLICATION_ASLEEP] = "application",
	[RULE_MTU_STUCK] = "mtu",
	[RULE_NOT_ACKNOWLEDGED] = "no-answer",
	[RULE_CARD_STUCK] = "card-stuck",
	[RULE_LOCAL_STUCK] = "card-stuck",
	[RULE_PEER_NO_ANSWER] = "no-answer",
	[RULE_PEER_SILENT] = "no-answer",
	[RULE_PINNED_LIMIT] = "locked-memory",
	[RULE_VERB_FAILED] = "failed-verbs",
	[RULE_CQ_OVERRUN] = "small-cq",
	[RULE_CQ_SMALL] = "small-cq",
	[RULE_MTU_DIFFERS] = "mtu",
};

/**
 * rule_runbook - what to do about a rule that holds
 * @p: memory
 * @r: rule
 *
 * Return: "runbooks/PAGE.md", NULL for a rule that needs none.
 */
const char *rule_runbook(struct pool *p, const struct rule *r)
{
	const char *page = runbooks[r - rules];

	return page ? pool_printf(p, FOLDER "%s.md", page) : NULL;
}
