// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Have the hint and the affinity of an interrupt functions of their own? */
#include <linux/interrupt.h>

#ifdef ERDMA_PROBE_IRQ_AFFINITY_AND_HINT
int probe(const struct cpumask *mask);

int probe(const struct cpumask *mask)
{
	return irq_set_affinity_and_hint(0, mask) ?: irq_update_affinity_hint(0, NULL);
}
#endif

#ifdef ERDMA_PROBE_IRQ_AFFINITY_BY_HINT
/* Clashes with the one of kernels that have it */
int irq_set_affinity_and_hint;
#endif
