// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Is there a function that reads a socket's user data under its callback lock? */
#include <net/sock.h>

#ifdef ERDMA_PROBE_SK_USER_DATA_LOCKED
void *probe(struct sock *sk);

void *probe(struct sock *sk)
{
	return __locked_read_sk_user_data_with_flags(sk, SK_USER_DATA_NOCOPY);
}
#endif

#ifdef ERDMA_PROBE_SK_USER_DATA_RCU
/* Clashes with the one of kernels that have it */
int __locked_read_sk_user_data_with_flags;

void *probe(struct sock *sk);

void *probe(struct sock *sk)
{
	return __rcu_dereference_sk_user_data_with_flags(sk, SK_USER_DATA_NOCOPY);
}
#endif
