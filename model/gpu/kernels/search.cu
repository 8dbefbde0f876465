// dims: none
// Distances from every source of a batch, in its query's graph: 32 queries as the bits of a word.
#include "model.cuh"

// The sources are at distance 0.
KERNEL(256) search_start(const Batch *p) {
	long long i = (long long)blockIdx.x * 256 + threadIdx.x;
	int v = i % p->entities;
	if (i < (long long)p->batch * p->entities) {
		int b = i / p->entities;
		p->reached[i] = v == p->queries[b].source ? 0 : UNREACHED;
	}
}

// The sources' neighbors are at distance 1. Removed edges matter here alone: they leave the source or enter it. A block
// a query.
KERNEL(256) search_first(const Batch *p) {
	int b = blockIdx.x;
	Query q = p->queries[b];
	int end = p->offsets[q.source + 1];
	for (int e = p->offsets[q.source] + threadIdx.x; e < end; e += 256) {
		int u = p->senders[e], r = inverse_of(p->relations[e], p->relation_count); // q.source -r-> u
		if (u != q.source && !removed(q, q.source, r, u)) p->reached[(long long)b * p->entities + u] = 1;
	}
}

// The first frontier, as bits. A thread an entity and 32 queries.
KERNEL(128) search_pack(const Batch *p) {
	int words = (p->batch + 31) / 32;
	long long i = (long long)blockIdx.x * 128 + threadIdx.x;
	if (i >= (long long)words * p->entities) return;
	int g = i / p->entities, v = i % p->entities;
	unsigned first = 0, seen = 0;
	for (int b = 32 * g; b < min(32 * g + 32, p->batch); b++) {
		int distance = p->reached[(long long)b * p->entities + v];
		first |= (unsigned)(distance == 1) << (b % 32);
		seen |= (unsigned)(distance <= 1) << (b % 32);
	}
	p->frontier[i] = first;
	p->seen[i] = seen;
}

// The entities at a distance from 2 on: those not seen with a neighbor in the frontier. A warp an entity and 32 queries. The
// frontiers of even and of odd distances take turns.
KERNEL(128) search_next(const Batch *p, int distance) {
	const unsigned *from = distance % 2 == 0 ? p->frontier : p->found;
	unsigned *to = distance % 2 == 0 ? p->found : p->frontier;
	int lane = threadIdx.x % 32, words = (p->batch + 31) / 32, warps = gridDim.x * 4;
	for (long long i = (long long)blockIdx.x * 4 + threadIdx.x / 32; i < (long long)words * p->entities; i += warps) {
		int g = i / p->entities, v = i % p->entities, end = p->offsets[v + 1];
		unsigned queries = p->batch - 32 * g >= 32 ? ALL : (1u << (p->batch - 32 * g)) - 1;
		unsigned seen = p->seen[i], missing = queries & ~seen, found = 0;
		const unsigned *words_of = from + (long long)g * p->entities;
		for (int e = p->offsets[v]; e < end && missing & ~found;) {
			unsigned bits = e + lane < end ? words_of[p->senders[e + lane]] : 0;
			e += 32;
			if (end - e >= 96) { // of many edges, four at a time: a lane waits for all of them once
#pragma unroll
				for (int j = 0; j < 3; j++) bits |= words_of[p->senders[e + 32 * j + lane]];
				e += 96;
			}
			found |= __reduce_or_sync(ALL, bits);
		}
		found &= missing;
		if (lane == 0) {
			to[i] = found;
			p->seen[i] = seen | found;
		}
		if (found >> lane & 1) p->reached[(long long)(32 * g + lane) * p->entities + v] = distance;
	}
}
