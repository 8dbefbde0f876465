// The backward pass of a layer: gradients of states, of the linear map's output, of messages.
#include "model.cuh"

// collect adds the gradients of the messages that an entity sends in layer t + 1, four dimensions a lane, over in-edges begin,
// begin + 32, ... : every edge has its inverse.
DEVICE float4 collect(const Batch *p, const Query &q, Row row, int t, int begin, int end, int step) {
	const int *__restrict__ senders = p->senders, *__restrict__ relations = p->relations, *__restrict__ reverse = p->reverse;
	const byte *__restrict__ active = p->active + ((long long)(t + 1) * p->batch + row.query) * p->entities;
	const float4 *__restrict__ messages = (const float4 *)p->messages;
	const float4 *__restrict__ embeddings = (const float4 *)embedding_of(p, row.query, t + 1, 0);
	int lane = threadIdx.x % 32, team = lane / LANES, part = lane % LANES;
	bool check = touched(q, row.entity);
	float4 sum = zero4();
	for (int first = begin; first < end; first += step) {
		int edge = 0, relation = 0, e = first + lane;
		bool sent = false;
		if (e < end) {
			int u = senders[e], r = relations[e];
			sent = active[u] && !(check && removed(q, u, r, row.entity));
			edge = reverse[e];
			relation = inverse_of(r, p->relation_count);
		}
		unsigned bits = __ballot_sync(ALL, sent);
		int count = __popc(bits);
#pragma unroll
		for (int i = 0; i < TEAMS - 1; i++)
			if (i < team) bits &= bits - 1;
#pragma unroll 2
		for (int k = 0; k < count; k += TEAMS) {
			int next = bits ? __ffs(bits) - 1 : 0;
			int of = __shfl_sync(ALL, edge, next), r = __shfl_sync(ALL, relation, next);
			if (bits) sum = fma4(messages[((long long)row.query * p->edges + of) * LANES + part], embeddings[r * LANES + part], sum);
#pragma unroll
			for (int i = 0; i < TEAMS; i++) bits &= bits - 1;
		}
	}
	return sum_teams(sum);
}

// settle completes the gradient of row i's state after layer t, and, but for the sources in layer 0, takes it through the residual
// update to the linear map's output.
DEVICE void settle(const Batch *p, Row row, int i, int t, float4 g) {
	int lane = threadIdx.x % 32, part = lane % LANES;
	long long of = (long long)row.query * p->entities + row.entity, count = (long long)p->batch * p->entities;
	int distance = p->distances[of], age = t - distance, slot = p->slots[of];
	if (slot > 0 && (p->specific || age == last_age(p, distance))) {
		long long at = (long long)row.query * p->candidate_stride + slot - 1;
		if (p->specific) at = at * p->ages + age;
		g = add4(g, at4(p->final_gradients, at * LANES + part));
	}
	if (t < p->layers && p->active[(t + 1) * count + of]) {
		int next = p->row_index[(t + 1) * count + of];
		g = add4(g, at4(p->gradient, (long long)next * LANES + part));
		g = add4(g, at4(p->feature_gradients + (long long)(next - p->row_begin[t + 1]) * WIDTH, part));
	}
	if (lane < LANES) put4(p->gradient, (long long)i * LANES + part, g);
	if (t == 0) return;
	const float *layer = p->parameters + (long long)(t - 1) * p->layer_size;
	float4 normalized = at4(p->normalized, (long long)i * LANES + part);
	unsigned mask = p->threshold ? p->masks[i * PER + part / 8] >> (part % 8 * 4) : 15;
	float n[4] = {normalized.x, normalized.y, normalized.z, normalized.w}, d[4] = {g.x, g.y, g.z, g.w}, a[4];
#pragma unroll
	for (int j = 0; j < 4; j++) {
		float z = n[j], scale = 1.0f;
		if (p->bias) {
			scale = layer[p->scale_at + 4 * part + j];
			z = fmaf(z, scale, layer[p->shift_at + 4 * part + j]);
		}
		a[j] = z > 0 && mask >> j & 1 ? d[j] * p->keep_scale : 0.0f;
		d[j] = a[j] * scale;
	}
	float mean = sum_dims((d[0] + d[1]) + (d[2] + d[3])) / p->live;
	float along = sum_dims(fmaf(d[0], n[0], d[1] * n[1]) + fmaf(d[2], n[2], d[3] * n[3])) / p->live, deviation = p->deviations[i];
#pragma unroll
	for (int j = 0; j < 4; j++) d[j] = 4 * part + j < p->live ? fmaf(-n[j], along, d[j] - mean) * deviation : 0.0f;
	if (lane < LANES) {
		put4(p->linear, (long long)i * LANES + part, make_float4(d[0], d[1], d[2], d[3]));
		if (p->bias) put4(p->affine, (long long)i * LANES + part, make_float4(a[0], a[1], a[2], a[3]));
	}
}

// Gradients of the states of layer t, once those of layer t + 1 are there. Light entities, a warp each.
KERNEL(128) state_gradients(const Batch *p, int t) {
	int end = end_row(p, t);
	for (int i = light_row(p, t) + blockIdx.x * 4 + threadIdx.x / 32; i < end; i += gridDim.x * 4) {
		Row row = p->rows[i];
		Query q = p->queries[row.query];
		float4 g = zero4();
		if (t < p->layers) g = collect(p, q, row, t, p->offsets[row.entity], p->offsets[row.entity + 1], 32);
		settle(p, row, i, t, g);
	}
}

// Heavy entities, and in layer 0 the sources: a block each.
ROOMY(256) state_gradients_heavy(const Batch *p, int t) {
	__shared__ float4 sums[8][LANES];
	int end = light_row(p, t), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	for (int i = first_row(p, t) + blockIdx.x; i < end; i += gridDim.x) {
		Row row = p->rows[i];
		Query q = p->queries[row.query];
		float4 g = zero4();
		if (t < p->layers) g = collect(p, q, row, t, p->offsets[row.entity] + 32 * warp, p->offsets[row.entity + 1], 256);
		if (lane < LANES) sums[warp][lane] = g;
		__syncthreads();
		if (warp == 0) {
#pragma unroll 1
			for (int w = 1; w < 8; w++) g = add4(g, sums[w][lane % LANES]);
			settle(p, row, i, t, g);
		}
		__syncthreads();
	}
}

// Terms determine the gradient of a member x of a receiver's set in one dimension: base + slope x, and up or down for the
// first that attains the maximum or the minimum.
struct Terms {
	float base, slope, most, least, up, down;
};

DEVICE float member(Terms &s, float x) {
	float gradient = fmaf(s.slope, x, s.base);
	if (x == s.least) {
		gradient += s.down;
		s.down = 0;
	}
	if (x == s.most) {
		gradient += s.up;
		s.up = 0;
	}
	return gradient;
}

DEVICE Terms terms(const Batch *p, int t, int i, int dim) {
	const float *f = p->features + (long long)i * WIDTH + dim, *g = p->feature_gradients + (long long)(i - p->row_begin[t]) * WIDTH + dim;
	float divisor = p->scales[p->row_degree[i]].divisor, mean = f[DIM], deviation = f[4 * DIM];
	Terms s = {g[DIM], 0, f[2 * DIM], f[3 * DIM], g[2 * DIM], g[3 * DIM]};
	if (p->reduction == PNA) {
		s.slope = deviation > 1e-3f ? g[4 * DIM] * divisor / deviation : 0.0f;
		s.base = fmaf(-s.slope, mean, g[DIM] * divisor);
		return s;
	}
	s.up = s.down = 0;
	if (p->reduction == MEAN) s.base = g[DIM] * divisor;
	if (p->reduction == MAX) {
		s.base = 0;
		s.most = mean;
		s.up = g[DIM];
	}
	return s;
}

// The members of a set that are no messages: the boundary, then the copies of the degree message. A dimension of one warp
// writes what they give, where writes.
DEVICE void others(const Batch *p, Terms &s, const Query &q, Row row, int i, int t, int dim, bool writes) {
	float boundary = row.entity == q.source ? query_embedding(p, row.query)[dim] : 0.0f;
	float gradient = member(s, boundary);
	if (row.entity == q.source) {
		if (p->row_admitted[i] > p->row_sent[i]) { // an empty message is a member too
			if (s.most == 0) s.up = 0;
			if (s.least == 0) s.down = 0;
		}
		if (writes) p->boundary[((long long)row.query * (p->layers + 1) + t) * DIM + dim] = gradient;
	}
	if (!p->degree_messages) return;
	float x = p->parameters[(long long)(t - 1) * p->layer_size + p->degree_at + dim];
	int copies = p->row_degree[i] - p->row_admitted[i];
	gradient = 0;
	if (copies > 0) {
		gradient = fmaf(s.slope, x, s.base) * (copies - 1);
		gradient += member(s, x);
	}
	if (writes) p->degree_gradients[(long long)(i - p->row_begin[t]) * DIM + dim] = gradient;
}

// tell writes the gradients of the messages along in-edges begin to end, in order, a warp at a time; or, where extremes is not
// null, only notes which dimensions attain their maximum (1) and minimum (2).
DEVICE void tell(const Batch *p, Terms *s, const Query &q, Row row, int t, int begin, int end, int *extremes) {
	const int *__restrict__ senders = p->senders, *__restrict__ relations = p->relations;
	const byte *__restrict__ distances = p->distances + (long long)row.query * p->entities;
	const float *__restrict__ embeddings = embedding_of(p, row.query, t, 0), *__restrict__ states = p->states;
	int lane = threadIdx.x % 32;
	bool check = touched(q, row.entity);
	for (int first = begin; first < end; first += 32) {
		int from = 0, relation = 0, e = first + lane;
		bool sent = false;
		if (e < end) {
			int u = senders[e], far = distances[u];
			relation = relations[e];
			sent = far < t && !(check && removed(q, u, relation, row.entity));
			from = ((t - 1 - far) * p->batch + row.query) * p->entities + u;
		}
		unsigned bits = __ballot_sync(ALL, sent);
		while (bits) {
			int next[4];
			float x[4][PER], w[4][PER];
#pragma unroll
			for (int k = 0; k < 4; k++) {
				next[k] = bits ? __ffs(bits) - 1 : -1;
				bits &= bits - 1;
				int state = __shfl_sync(ALL, from, max(next[k], 0)), r = __shfl_sync(ALL, relation, max(next[k], 0));
#pragma unroll
				for (int j = 0; j < PER; j++) {
					x[k][j] = next[k] >= 0 ? states[(long long)state * DIM + lane + 32 * j] : 0.0f;
					w[k][j] = next[k] >= 0 ? embeddings[r * DIM + lane + 32 * j] : 0.0f;
				}
			}
#pragma unroll
			for (int k = 0; k < 4; k++) {
				if (next[k] < 0) continue;
#pragma unroll
				for (int j = 0; j < PER; j++) {
					float m = x[k][j] * w[k][j];
					if (extremes) extremes[j] |= (m == s[j].most ? 1 : 0) | (m == s[j].least ? 2 : 0);
					else p->messages[((long long)row.query * p->edges + first + next[k]) * DIM + lane + 32 * j] = member(s[j], m);
				}
			}
		}
	}
}

// The gradient of every message of layer t, by receiver: who attains an extreme first is known in the order of its edges
// alone. Light entities, a warp each.
KERNEL(128) message_gradients(const Batch *p, int t) {
	int end = end_row(p, t), lane = threadIdx.x % 32;
	for (int i = light_row(p, t) + blockIdx.x * 4 + threadIdx.x / 32; i < end; i += gridDim.x * 4) {
		Row row = p->rows[i];
		Query q = p->queries[row.query];
		Terms s[PER];
#pragma unroll
		for (int j = 0; j < PER; j++) {
			s[j] = terms(p, t, i, lane + 32 * j);
			others(p, s[j], q, row, i, t, lane + 32 * j, true);
		}
		tell(p, s, q, row, t, p->offsets[row.entity], p->offsets[row.entity + 1], 0);
	}
}

// Heavy entities, a block of 8 warps each, which take an eighth of the edges in turn. A first pass finds which warp is the
// first to attain an extreme.
KERNEL(256) message_gradients_heavy(const Batch *p, int t) {
	__shared__ int attained[8][DIM];
	int end = light_row(p, t), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	for (int i = first_row(p, t) + blockIdx.x; i < end; i += gridDim.x) {
		Row row = p->rows[i];
		Query q = p->queries[row.query];
		int from = p->offsets[row.entity], to = p->offsets[row.entity + 1], each = ((to - from + 255) / 256) * 32;
		int begin = min(from + warp * each, to), stop = min(begin + each, to);
		Terms s[PER];
		int extremes[PER];
#pragma unroll
		for (int j = 0; j < PER; j++) {
			s[j] = terms(p, t, i, lane + 32 * j);
			others(p, s[j], q, row, i, t, lane + 32 * j, warp == 0);
			extremes[j] = 0;
		}
		tell(p, s, q, row, t, begin, stop, extremes);
#pragma unroll
		for (int j = 0; j < PER; j++) attained[warp][lane + 32 * j] = extremes[j];
		__syncthreads();
#pragma unroll
		for (int j = 0; j < PER; j++) {
			int before = 0;
			for (int w = 0; w < warp; w++) before |= attained[w][lane + 32 * j];
			if (before & 1) s[j].up = 0;
			if (before & 2) s[j].down = 0;
		}
		tell(p, s, q, row, t, begin, stop, 0);
		__syncthreads();
	}
}

// The gradient of the relations' embeddings in layer t, a piece of a relation's edges and a query at a time, a warp each.
KERNEL(128) relation_partial(const Batch *p, int t) {
	const byte *__restrict__ all = p->active + (long long)t * p->batch * p->entities;
	const float4 *__restrict__ states = (const float4 *)p->states, *__restrict__ messages = (const float4 *)p->messages;
	int lane = threadIdx.x % 32, team = lane / LANES, part = lane % LANES;
	for (int i = blockIdx.x * 4 + threadIdx.x / 32; i < p->batch * p->pieces; i += gridDim.x * 4) {
		int b = i / p->pieces, piece = i % p->pieces, end = p->piece_begin[piece + 1];
		Query q = p->queries[b];
		const byte *__restrict__ active = all + (long long)b * p->entities, *__restrict__ distances = p->distances + (long long)b * p->entities;
		float4 sum = zero4();
		for (int first = p->piece_begin[piece]; first < end; first += 32) {
			int edge = 0, from = 0;
			bool sent = false;
			if (first + lane < end) {
				int o = p->relation_receivers[first + lane];
				edge = p->relation_edges[first + lane];
				if (active[o]) {
					int u = p->senders[edge], far = distances[u];
					sent = far < t && !removed(q, u, p->relations[edge], o);
					from = ((t - 1 - far) * p->batch + b) * p->entities + u;
				}
			}
			unsigned bits = __ballot_sync(ALL, sent);
			int count = __popc(bits);
#pragma unroll
			for (int k = 0; k < TEAMS - 1; k++)
				if (k < team) bits &= bits - 1;
#pragma unroll 2
			for (int k = 0; k < count; k += TEAMS) {
				int next = bits ? __ffs(bits) - 1 : 0;
				int of = __shfl_sync(ALL, edge, next), state = __shfl_sync(ALL, from, next);
				if (bits) sum = fma4(messages[((long long)b * p->edges + of) * LANES + part], states[(long long)state * LANES + part], sum);
#pragma unroll
				for (int j = 0; j < TEAMS; j++) bits &= bits - 1;
			}
		}
		sum = sum_teams(sum);
		if (lane < LANES) put4(p->relation_partial, (long long)i * LANES + part, sum);
	}
}

// The sums of the relations' pieces. A thread a dimension.
KERNEL(256) relation_sum(const Batch *p, int t) {
	int size = p->relation_count * DIM;
	for (int i = blockIdx.x * 256 + threadIdx.x; i < p->batch * size; i += gridDim.x * 256) {
		int b = i / size, r = i % size / DIM, j = i % DIM;
		float sum = 0;
		for (int piece = p->relation_pieces[r]; piece < p->relation_pieces[r + 1]; piece++)
			sum += p->relation_partial[((long long)b * p->pieces + piece) * DIM + j];
		p->relation_gradients[((long long)b * p->layers + t - 1) * size + r * DIM + j] = sum;
	}
}
