// dims: none
// Which entities each layer updates, and the numbering of these updates as rows.
#include "model.cuh"

// The sources' states before layer 1, and all updates that the window admits. Training computes less: see below.
KERNEL(256) activate_all(const Batch *p) {
	long long i = (long long)blockIdx.x * 256 + threadIdx.x, count = (long long)p->batch * p->entities;
	if (i >= count) return;
	int distance = p->distances[i];
	p->active[i] = i % p->entities == p->queries[i / p->entities].source;
	for (int t = 1; t <= p->layers; t++) p->active[t * count + i] = distance <= t && t <= distance + p->delta;
}

// The updates that the candidates' final states are made of. A block a query.
KERNEL(128) activate_candidates(const Batch *p) {
	int b = blockIdx.x;
	long long of = (long long)b * p->entities, count = (long long)p->batch * p->entities;
	if (threadIdx.x == 0) p->active[of + p->queries[b].source] = 1;
	for (int c = threadIdx.x; c < p->queries[b].candidates; c += 128) {
		int v = p->candidate_entities[b * p->candidate_stride + c], distance = p->distances[of + v];
		p->slots[of + v] = c + 1;
		if (distance == UNREACHED) continue;
		int last = distance + last_age(p, distance), first = p->specific ? distance : last;
		for (int t = max(first, 1); t <= last; t++) p->active[t * count + of + v] = 1;
	}
}

// The updates in layer t - 1 that those in layer t read: the entity's own and its senders'. A warp an entity of a query.
KERNEL(128) activate_senders(const Batch *p, int t) {
	int lane = threadIdx.x % 32, warps = gridDim.x * 4;
	long long count = (long long)p->batch * p->entities;
	const byte *next = p->active + t * count;
	byte *active = p->active + (t - 1) * count;
	for (long long i = (long long)blockIdx.x * 4 + threadIdx.x / 32; i < count; i += warps) {
		int distance = p->distances[i];
		if (distance > t - 1 || t - 1 > distance + p->delta || active[i]) continue;
		int b = i / p->entities, v = i % p->entities, end = p->offsets[v + 1];
		Query q = p->queries[b];
		bool check = touched(q, v), needed = next[i];
		for (int e = p->offsets[v]; e < end && !needed; e += 32) {
			bool reads = false;
			if (e + lane < end) {
				int u = p->senders[e + lane];
				reads = next[(long long)b * p->entities + u] && !(check && removed(q, u, p->relations[e + lane], v));
			}
			needed = __ballot_sync(ALL, reads) != 0;
		}
		if (needed && lane == 0) active[i] = 1;
	}
}

// A block counts the rows of a layer and query, heavy entities first, with 1024 threads.
KERNEL(1024) rows_count(const Batch *p) {
	__shared__ int sums[2][32];
	int t = blockIdx.x / p->batch, b = blockIdx.x % p->batch, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const byte *active = p->active + ((long long)t * p->batch + b) * p->entities;
	int heavy = 0, light = 0;
	for (int v = threadIdx.x; v < p->entities; v += 1024) {
		if (!active[v]) continue;
		if (p->offsets[v + 1] - p->offsets[v] > HEAVY || t == 0) heavy++;
		else light++;
	}
#pragma unroll
	for (int lanes = 1; lanes < 32; lanes *= 2) {
		heavy += __shfl_xor_sync(ALL, heavy, lanes);
		light += __shfl_xor_sync(ALL, light, lanes);
	}
	if (lane == 0) {
		sums[0][warp] = heavy;
		sums[1][warp] = light;
	}
	__syncthreads();
	if (threadIdx.x < 2) {
		int sum = 0;
		for (int w = 0; w < 32; w++) sum += sums[threadIdx.x][w];
		p->counts[(t * 2 + threadIdx.x) * p->batch + b] = sum;
	}
}

// The first row of each layer, class and query. One block, which takes 1024 counts at a time.
KERNEL(1024) rows_start(const Batch *p) {
	__shared__ int sums[2][32]; // in turns, so that a barrier each is enough
	int n = (p->layers + 1) * 2 * p->batch, next = 0, all;
	for (int first = 0; first <= n; first += 1024) {
		int i = first + threadIdx.x, start = next + sum_before(i < n ? p->counts[i] : 0, sums[first / 1024 % 2], all);
		if (i < n) p->starts[i] = start;
		if (i <= n && i % (2 * p->batch) == 0) p->row_begin[i / (2 * p->batch)] = start;
		else if (i < n && i % p->batch == 0) p->heavy_end[i / (2 * p->batch)] = start;
		next += all;
	}
}

// A block numbers the rows of a layer and query, those of entities with most edges first.
KERNEL(1024) rows_write(const Batch *p) {
	__shared__ int sums[32];
	int t = blockIdx.x / p->batch, b = blockIdx.x % p->batch, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	long long of = ((long long)t * p->batch + b) * p->entities;
	Query q = p->queries[b];
	for (int light = 0; light < 2; light++) {
		int next = p->starts[(t * 2 + light) * p->batch + b], heavy = t == 0 ? p->entities : p->heavy_count;
		int begin = light ? heavy : 0, end = light ? p->entities : heavy;
		for (int first = begin; first < end; first += 1024) {
			int i = first + threadIdx.x, v = i < end ? p->order[i] : 0;
			bool active = i < end && p->active[of + v];
			unsigned bits = __ballot_sync(ALL, active);
			if (lane == 0) sums[warp] = __popc(bits);
			__syncthreads();
			int before = 0, all = 0;
			for (int w = 0; w < 32; w++) {
				if (w == warp) before = all;
				all += sums[w];
			}
			__syncthreads();
			if (active) {
				int row = next + before + __popc(bits & ((1u << lane) - 1));
				int from = p->offsets[v], to = p->offsets[v + 1];
				Row r = {b, v, from, to, to - from, p->distances[(long long)b * p->entities + v], 0, 0};
				if (v == q.source) {
					r.degree -= q.source_drop;
					r.flags |= SOURCE;
				} else if (v == q.answer) {
					r.degree -= q.answer_drop;
				}
				if (touched(q, v)) r.flags |= TOUCHED;
				if (p->training) r.slot = p->slots[(long long)b * p->entities + v];
				p->rows[row] = r;
				p->row_numbers[of + v] = 1 + row - p->starts[t * 2 * p->batch];
				p->row_degree[row] = r.degree;
			}
			next += all;
		}
	}
}

DEVICE word mix(word x) {
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

// Dropout masks of all rows, as the CPU draws them: every 64 random bits decide four dimensions. A thread draws a word.
// words: 32 dimensions each.
KERNEL(256) draw_masks(const Batch *p, int words) {
	int count = (p->row_begin[p->layers + 1] - p->batch) * words;
	for (int i = blockIdx.x * 256 + threadIdx.x; i < count; i += gridDim.x * 256) {
		int row = p->batch + i / words, t = 1;
		while (row >= p->row_begin[t + 1]) t++;
		word state = mix(p->queries[p->rows[row].query].seed ^ mix((word)(t - 1) << 32 | (unsigned)p->rows[row].entity));
		unsigned bits = 0;
		state += (word)(i % words) * 8 * 0x9e3779b97f4a7c15ull;
		for (int four = 0; four < 32; four += 4) {
			state += 0x9e3779b97f4a7c15ull;
			word random = mix(state);
			for (int j = 0; j < 4; j++) bits |= (unsigned)((int)(random >> (16 * j) & 0xffff) >= p->threshold) << (four + j);
		}
		p->masks[row * words + i % words] = bits;
	}
}
