// The backward pass of a layer: gradients of states, of the linear map's output, of messages.
#include "model.cuh"

// collect adds the gradients of the messages that an entity sends in layer t + 1, four dimensions a lane, over in-edges begin to
// end: every edge has its inverse.
DEVICE float4 collect(const Batch *p, const Row &row, int t, int begin, int end) {
	const int *__restrict__ senders = p->senders, *__restrict__ relations = p->relations;
	const byte *__restrict__ active = p->active + ((long long)(t + 1) * p->batch + row.query) * p->entities;
	const float4 *__restrict__ messages = (const float4 *)p->messages + (long long)row.query * p->edges * LANES;
	const float4 *__restrict__ embeddings = (const float4 *)embedding_of(p, row.query, t + 1, 0);
	int lane = threadIdx.x % 32, team = lane / LANES, part = lane % LANES;
	float4 sum = zero4();
	for (int first = begin; first < end; first += 32) {
		int relation = 0, e = first + lane;
		bool sent = false;
		if (e < end) {
			int u = senders[e], r = relations[e];
			sent = active[u] && !(row.flags & TOUCHED && removed(p->queries[row.query], u, r, row.entity));
			relation = inverse_of(r, p->relation_count);
		}
		unsigned bits = __ballot_sync(ALL, sent);
		int count = __popc(bits);
#pragma unroll
		for (int i = 0; i < TEAMS - 1; i++)
			if (i < team) bits &= bits - 1;
		for (int k = 0; k < count; k += 2 * TEAMS) {
			float4 x[2], w[2];
#pragma unroll
			for (int j = 0; j < 2; j++) {
				int next = __ffs(bits) - 1;
#pragma unroll
				for (int i = 0; i < TEAMS; i++) bits &= bits - 1;
				int r = __shfl_sync(ALL, relation, max(next, 0));
				x[j] = next < 0 ? zero4() : messages[(long long)(first + next) * LANES + part];
				w[j] = next < 0 ? zero4() : embeddings[r * LANES + part];
			}
#pragma unroll
			for (int j = 0; j < 2; j++) sum = fma4(x[j], w[j], sum);
		}
	}
	return sum_teams(sum);
}

// settle completes the gradient of row i's state after layer t, and, but for the sources in layer 0, takes it through the residual
// update to the linear map's output.
DEVICE void settle(const Batch *p, const Row &row, int i, int t, float4 g) {
	int lane = threadIdx.x % 32, part = lane % LANES;
	long long of = (long long)row.query * p->entities + row.entity, count = (long long)p->batch * p->entities;
	int age = t - row.distance;
	if (row.slot > 0 && (p->specific || age == last_age(p, row.distance))) {
		long long at = (long long)row.query * p->candidate_stride + row.slot - 1;
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
SHARING(128, DIM == 32 ? 8 : 6) state_gradients(const Batch *p, int t) {
	int end = end_row(p, t);
	for (int i = light_row(p, t) + blockIdx.x * 4 + threadIdx.x / 32; i < end; i += gridDim.x * 4) {
		Row row = p->rows[i];
		float4 g = zero4();
		if (t < p->layers) g = collect(p, row, t, row.begin, row.end);
		settle(p, row, i, t, g);
	}
}

// Heavy entities, and in layer 0 the sources: a block each.
SHARING(32 * HEAVY_WARPS, 3) state_gradients_heavy(const Batch *p, int t) {
	__shared__ float4 sums[HEAVY_WARPS][LANES];
	int end = light_row(p, t), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	for (int i = first_row(p, t) + blockIdx.x; i < end; i += gridDim.x) {
		Row row = p->rows[i];
		float4 g = zero4();
		if (t < p->layers) g = collect(p, row, t, share_begin(row, warp), share_begin(row, warp + 1));
		if (lane < LANES) sums[warp][lane] = g;
		__syncthreads();
		if (warp == 0) {
#pragma unroll 1
			for (int w = 1; w < HEAVY_WARPS; w++) g = add4(g, sums[w][lane % LANES]);
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

// member is the gradient of a member that is not a message.
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

// message is the gradient of a message, of which each team of a warp has another one: of those that attain an extreme, the first
// team's gets its gradient. sent is false where a team has none.
DEVICE float message(Terms &s, float x, bool sent) {
	int lane = threadIdx.x % 32;
	unsigned same = (TEAMS == 4 ? 0x01010101u : 0x00010001u) << lane % LANES; // the lanes of this dimension
	unsigned least = __ballot_sync(ALL, sent && x == s.least) & same, most = __ballot_sync(ALL, sent && x == s.most) & same;
	float gradient = fmaf(s.slope, x, s.base);
	if (least) {
		if (__ffs(least) - 1 == lane) gradient += s.down;
		s.down = 0;
	}
	if (most) {
		if (__ffs(most) - 1 == lane) gradient += s.up;
		s.up = 0;
	}
	return gradient;
}

DEVICE Terms terms(const Batch *p, const Row &row, int t, int i, int dim) {
	const float *f = p->features + (long long)i * WIDTH + dim, *g = p->feature_gradients + (long long)(i - p->row_begin[t]) * WIDTH + dim;
	float divisor = p->scales[row.degree].divisor, mean = f[DIM], deviation = f[4 * DIM];
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
DEVICE void others(const Batch *p, Terms &s, const Row &row, int i, int t, int dim, bool writes) {
	float boundary = row.flags & SOURCE ? query_embedding(p, row.query)[dim] : 0.0f;
	float gradient = member(s, boundary);
	if (row.flags & SOURCE) {
		if (p->row_admitted[i] > p->row_sent[i]) { // an empty message is a member too
			if (s.most == 0) s.up = 0;
			if (s.least == 0) s.down = 0;
		}
		if (writes) p->boundary[((long long)row.query * (p->layers + 1) + t) * DIM + dim] = gradient;
	}
	if (!p->degree_messages) return;
	float x = p->parameters[(long long)(t - 1) * p->layer_size + p->degree_at + dim];
	int copies = row.degree - p->row_admitted[i];
	gradient = 0;
	if (copies > 0) {
		gradient = fmaf(s.slope, x, s.base) * (copies - 1);
		gradient += member(s, x);
	}
	if (writes) p->degree_gradients[(long long)(i - p->row_begin[t]) * DIM + dim] = gradient;
}

// end_run stores what the relation's embedding gets from the messages of a run in layer t.
DEVICE void end_run(const Batch *p, int b, int run, int t, float4 sum) {
	int part = threadIdx.x % LANES;
	long long at = (long long)b * p->run_count + run;
	put4(p->run_sums, at * LANES + part, sum);
	if (part == 0) p->run_layers[at] = t;
}

// most_of_teams is the largest number of bits of a team's lanes.
DEVICE int most_of_teams(unsigned bits) {
	int most = 0;
#pragma unroll
	for (int team = 0; team < TEAMS; team++) most = max(most, __popc(bits >> team * LANES & ((1u << (LANES - 1) << 1) - 1)));
	return most;
}

// tell writes the gradients of the messages along in-edges begin to end, and for every run what its relation's embedding gets of
// them. Of every 32 edges each team of a warp takes LANES, one after another; an extreme goes to the first step that attains it.
DEVICE void tell(const Batch *p, Terms *s, const Row &row, int t, int begin, int end) {
	const int *__restrict__ senders = p->senders, *__restrict__ relations = p->relations, *__restrict__ reverse = p->reverse, *__restrict__ runs = p->runs;
	const byte *__restrict__ distances = p->distances + (long long)row.query * p->entities;
	const float4 *__restrict__ embeddings = (const float4 *)embedding_of(p, row.query, t, 0), *__restrict__ states = (const float4 *)p->states;
	float *__restrict__ messages = p->messages + (long long)row.query * p->edges * DIM;
	int lane = threadIdx.x % 32, team = lane / LANES, part = lane % LANES;
	for (int first = begin; first < end; first += 32) {
		int from = 0, relation = 0, to = 0, run = 0, e = first + lane;
		bool sent = false;
		if (e < end) {
			int u = senders[e], far = distances[u];
			relation = relations[e];
			to = reverse[e];
			run = runs[e];
			sent = far < t && !(row.flags & TOUCHED && removed(p->queries[row.query], u, relation, row.entity));
			from = ((t - 1 - far) * p->batch + row.query) * p->entities + u;
		}
		unsigned all = __ballot_sync(ALL, sent), bits = all & ((1u << (LANES - 1) << 1) - 1) << team * LANES;
		int current = -1, steps = most_of_teams(all);
		float4 sum = zero4();
		for (int step = 0; step < steps; step += 2) {
			int next[2];
			float4 x[2], w[2];
#pragma unroll
			for (int k = 0; k < 2; k++) {
				next[k] = __ffs(bits) - 1;
				bits &= bits - 1;
				int state = __shfl_sync(ALL, from, max(next[k], 0)), r = __shfl_sync(ALL, relation, max(next[k], 0));
				x[k] = next[k] < 0 ? zero4() : states[(long long)state * LANES + part];
				w[k] = next[k] < 0 ? zero4() : embeddings[r * LANES + part];
			}
#pragma unroll
			for (int k = 0; k < 2; k++) {
				int r = __shfl_sync(ALL, run, max(next[k], 0)), at = __shfl_sync(ALL, to, max(next[k], 0));
				bool here = next[k] >= 0;
				float4 g = mul4(x[k], w[k]);
				g.x = message(s[0], g.x, here);
				g.y = message(s[1], g.y, here);
				g.z = message(s[2], g.z, here);
				g.w = message(s[3], g.w, here);
				if (here && r != current) {
					if (current >= 0) end_run(p, row.query, current, t, sum);
					current = r;
					sum = zero4();
				}
				if (here) put4(messages, (long long)at * LANES + part, g);
				sum = fma4(g, x[k], sum); // x is 0 where nothing is sent
			}
		}
		if (current >= 0) end_run(p, row.query, current, t, sum);
	}
}

// load_terms sets the terms of four dimensions of row i, once what is no message has got its part.
DEVICE void load_terms(const Batch *p, Terms *s, const Row &row, int t, int i, bool writes) {
	int dim = threadIdx.x % LANES * 4;
#pragma unroll
	for (int j = 0; j < 4; j++) {
		s[j] = terms(p, row, t, i, dim + j);
		others(p, s[j], row, i, t, dim + j, writes && threadIdx.x % 32 < LANES);
	}
}

// The gradient of every message of layer t, by receiver: who attains an extreme first is known in the order of its edges
// alone. Light entities, a warp each.
SHARING(128, DIM == 32 ? 5 : 4) message_gradients(const Batch *p, int t) {
	int end = end_row(p, t);
	for (int i = light_row(p, t) + blockIdx.x * 4 + threadIdx.x / 32; i < end; i += gridDim.x * 4) {
		Row row = p->rows[i];
		Terms s[4];
		load_terms(p, s, row, t, i, true);
		tell(p, s, row, t, row.begin, row.end);
	}
}

// Heavy entities, a block each, whose warps take equal parts of the edges: of an extreme, the one that read it first.
SHARING(32 * HEAVY_WARPS, 2) message_gradients_heavy(const Batch *p, int t) {
	int end = light_row(p, t), warp = threadIdx.x / 32, dim = threadIdx.x % LANES * 4;
	for (int i = first_row(p, t) + blockIdx.x; i < end; i += gridDim.x) {
		Row row = p->rows[i];
		const byte *owners = p->owners + (long long)i * 2 * DIM + dim;
		Terms s[4];
		load_terms(p, s, row, t, i, warp == 0);
#pragma unroll
		for (int j = 0; j < 4; j++) {
			if (owners[j] != warp) s[j].up = 0;
			if (owners[DIM + j] != warp) s[j].down = 0;
		}
		tell(p, s, row, t, share_begin(row, warp), share_begin(row, warp + 1));
	}
}

// The gradient of the relations' embeddings in layer t, a piece of a relation's runs and a query at a time, a warp each.
KERNEL(128) relation_partial(const Batch *p, int t) {
	int lane = threadIdx.x % 32, team = lane / LANES, part = lane % LANES;
	for (int i = blockIdx.x * 4 + threadIdx.x / 32; i < p->batch * p->pieces; i += gridDim.x * 4) {
		int b = i / p->pieces, piece = i % p->pieces, end = p->piece_begin[piece + 1];
		const byte *__restrict__ layers = p->run_layers + (long long)b * p->run_count;
		const float4 *__restrict__ sums = (const float4 *)p->run_sums + (long long)b * p->run_count * LANES;
		float4 sum = zero4();
		for (int first = p->piece_begin[piece]; first < end; first += 32) {
			unsigned bits = __ballot_sync(ALL, first + lane < end && layers[min(first + lane, end - 1)] == t);
			int count = __popc(bits);
#pragma unroll
			for (int k = 0; k < TEAMS - 1; k++)
				if (k < team) bits &= bits - 1;
			for (int k = 0; k < count; k += 2 * TEAMS) {
				float4 x[2];
#pragma unroll
				for (int j = 0; j < 2; j++) {
					int next = __ffs(bits) - 1;
#pragma unroll
					for (int l = 0; l < TEAMS; l++) bits &= bits - 1;
					x[j] = next < 0 ? zero4() : sums[(long long)(first + next) * LANES + part];
				}
				sum = add4(sum, add4(x[0], x[1]));
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
