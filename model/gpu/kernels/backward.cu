// The backward pass of a layer: gradients of states, of the linear map's output, of messages and their relations.
//
// A message is the product of a state and a relation's embedding, so the messages that an entity sends along a relation are equal, and
// the gradient of each is what its receiver gives: base + slope x message, and what the receiver's extremes add where it is the
// first that attains one. Nothing is stored by message but in which dimensions it does.
#include "model.cuh"

// Sums are those over the messages of a run, PER dimensions a lane.
struct Sums {
	float base[PER], slope[PER], extreme[PER];
};

DEVICE void clear(Sums &s) {
#pragma unroll
	for (int j = 0; j < PER; j++) s.base[j] = s.slope[j] = s.extreme[j] = 0;
}

// end_run adds the gradients of a run's messages to that of the sender's state, x, and stores that of the relation's embedding.
DEVICE void end_run(const Batch *p, const Row &row, int t, int run, int relation, const float *x, Sums &s, float *g) {
	int lane = threadIdx.x % 32;
	long long at = (long long)row.query * p->run_count + run;
	const float *embedding = embedding_of(p, row.query, t, relation);
#pragma unroll
	for (int j = 0; j < PER; j++) {
		float w = embedding[lane + 32 * j], d = fmaf(x[j] * w, s.slope[j], s.base[j]) + s.extreme[j];
		g[j] = fmaf(d, w, g[j]);
		p->run_sums[at * DIM + lane + 32 * j] = d * x[j];
	}
	if (lane == 0) p->run_layers[at] = t;
	clear(s);
}

// collect adds the gradients of the messages that an entity sends in layer t, over in-edges begin to end: every edge has its
// inverse. Each lane reads an edge, then the warp takes four at a time of those that carry a message, in order.
DEVICE void collect(const Batch *p, const Row &row, int t, int begin, int end, float *g) {
	long long of = ((long long)t * p->batch + row.query) * p->entities;
	int lane = threadIdx.x % 32;
	const float *__restrict__ gradients = p->feature_gradients + lane;
	float x[PER];
#pragma unroll
	for (int j = 0; j < PER; j++) {
		g[j] = 0;
		x[j] = p->states[((long long)((t - 1 - row.distance) * p->batch + row.query) * p->entities + row.entity) * DIM + lane + 32 * j];
	}
	for (int first = begin; first < end; first += 32) {
		int from = 0, relation = 0, run = 0, e = first + lane;
		unsigned extremes[2 * PER];
		bool sent = false;
#pragma unroll
		for (int j = 0; j < 2 * PER; j++) extremes[j] = 0;
		if (e < end) {
			int u = p->senders[e], r = p->relations[e];
			sent = p->active[of + u] && !(row.flags & TOUCHED && removed(p->queries[row.query], u, r, row.entity));
			run = p->runs[e];
			relation = inverse_of(r, p->relation_count);
			if (sent) {
				long long edge = (long long)row.query * p->edges + p->reverse[e];
				from = p->row_index[of + u] - p->row_begin[t];
#pragma unroll
				for (int j = 0; j < 2 * PER; j++) extremes[j] = p->extremes[edge * 2 * PER + j];
			}
		}
		unsigned bits = __ballot_sync(ALL, sent);
		int current = -1, of_current = 0;
		Sums s;
		clear(s);
		while (bits) {
			int next[4];
			float base[4][PER], slope[4][PER], up[4][PER], down[4][PER];
#pragma unroll
			for (int k = 0; k < 4; k++) {
				next[k] = __ffs(bits) - 1;
				bits &= bits - 1;
				int lane_of = max(next[k], 0);
				const float *terms = gradients + (long long)__shfl_sync(ALL, from, lane_of) * WIDTH;
#pragma unroll
				for (int j = 0; j < PER; j++) {
					bool here = next[k] >= 0;
					unsigned most = __shfl_sync(ALL, extremes[j], lane_of), least = __shfl_sync(ALL, extremes[PER + j], lane_of);
					base[k][j] = here ? terms[DIM + 32 * j] : 0.0f;
					slope[k][j] = here ? terms[4 * DIM + 32 * j] : 0.0f;
					up[k][j] = here && most >> lane & 1 ? terms[2 * DIM + 32 * j] : 0.0f;
					down[k][j] = here && least >> lane & 1 ? terms[3 * DIM + 32 * j] : 0.0f;
				}
			}
#pragma unroll
			for (int k = 0; k < 4; k++) {
				if (next[k] >= 0) {
					int number = __shfl_sync(ALL, run, next[k]), r = __shfl_sync(ALL, relation, next[k]);
					if (number != current) {
						if (current >= 0) end_run(p, row, t, current, of_current, x, s, g);
						current = number;
						of_current = r;
					}
#pragma unroll
					for (int j = 0; j < PER; j++) {
						s.base[j] += base[k][j];
						s.slope[j] += slope[k][j];
						s.extreme[j] += up[k][j] + down[k][j];
					}
				}
			}
		}
		if (current >= 0) end_run(p, row, t, current, of_current, x, s, g);
	}
}

// settle completes the gradient of row i's state after layer t, and, but for the sources in layer 0, takes it through the residual
// update to the linear map's output.
DEVICE void settle(const Batch *p, const Row &row, int i, int t, float *g) {
	int lane = threadIdx.x % 32, age = t - row.distance;
	long long of = (long long)row.query * p->entities + row.entity, count = (long long)p->batch * p->entities;
	long long slot = row.slot > 0 && (p->specific || age == last_age(p, row.distance)) ? (long long)row.query * p->candidate_stride + row.slot - 1 : -1;
	if (p->specific && slot >= 0) slot = slot * p->ages + age;
	int next = t < p->layers && p->active[(t + 1) * count + of] ? p->row_index[(t + 1) * count + of] : -1;
	const float *layer = p->parameters + (long long)(t - 1) * p->layer_size;
	float n[PER], d[PER], mean = 0, along = 0;
#pragma unroll
	for (int j = 0; j < PER; j++) {
		int dim = lane + 32 * j;
		if (slot >= 0) g[j] += p->final_gradients[slot * DIM + dim];
		if (next >= 0) g[j] += p->gradient[(long long)next * DIM + dim] + p->feature_gradients[(long long)(next - p->row_begin[t + 1]) * WIDTH + dim];
		p->gradient[(long long)i * DIM + dim] = g[j];
		if (t == 0) continue;
		float scale = 1, z = n[j] = p->normalized[(long long)i * DIM + dim];
		if (p->bias) {
			scale = layer[p->scale_at + dim];
			z = fmaf(z, scale, layer[p->shift_at + dim]);
		}
		bool kept = p->threshold == 0 || p->masks[i * PER + j] >> lane & 1;
		float a = z > 0 && kept ? g[j] * p->keep_scale : 0.0f;
		if (p->bias) p->affine[(long long)i * DIM + dim] = a;
		d[j] = a * scale;
		mean += d[j];
		along = fmaf(d[j], n[j], along);
	}
	if (t == 0) return;
	mean = sum_warp(mean) / p->live;
	along = sum_warp(along) / p->live;
	float deviation = p->deviations[i];
#pragma unroll
	for (int j = 0; j < PER; j++) {
		int dim = lane + 32 * j;
		p->linear[(long long)i * DIM + dim] = dim < p->live ? fmaf(-n[j], along, d[j] - mean) * deviation : 0.0f;
	}
}

// Gradients of the states of layer t, once those of layer t + 1 are there. Light entities, a warp each.
SHARING(128, DIM == 32 ? 7 : 5) state_gradients(const Batch *p, int t) {
	int end = end_row(p, t);
	for (int i = light_row(p, t) + blockIdx.x * 4 + threadIdx.x / 32; i < end; i += gridDim.x * 4) {
		Row row = p->rows[i];
		float g[PER];
#pragma unroll
		for (int j = 0; j < PER; j++) g[j] = 0;
		if (t < p->layers) collect(p, row, t + 1, row.begin, row.end, g);
		settle(p, row, i, t, g);
	}
}

// Heavy entities, and in layer 0 the sources: a block each.
SHARING(32 * HEAVY_WARPS, DIM == 32 ? 3 : 2) state_gradients_heavy(const Batch *p, int t) {
	__shared__ float sums[HEAVY_WARPS][DIM];
	int end = light_row(p, t), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	for (int i = first_row(p, t) + blockIdx.x; i < end; i += gridDim.x) {
		Row row = p->rows[i];
		float g[PER];
#pragma unroll
		for (int j = 0; j < PER; j++) g[j] = 0;
		if (t < p->layers) collect(p, row, t + 1, share_begin(row, warp), share_begin(row, warp + 1), g);
#pragma unroll
		for (int j = 0; j < PER; j++) sums[warp][lane + 32 * j] = g[j];
		__syncthreads();
		if (warp == 0) {
#pragma unroll
			for (int j = 0; j < PER; j++)
				for (int w = 1; w < HEAVY_WARPS; w++) g[j] += sums[w][lane + 32 * j];
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

DEVICE Terms terms(const Batch *p, const Row &row, const float *f, const float *g) {
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

// member is the gradient of a member that is no message. Where no message attains an extreme, the first of these does.
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

// others stores the gradients of the members of a set that are no messages: the boundary at the source, and the copies of the
// degree message. highest and lowest are the edges that attain the extremes, or -1.
DEVICE void others(const Batch *p, Terms s, const Row &row, int i, int t, int dim, int highest, int lowest) {
	if (highest >= 0) s.up = 0;
	if (lowest >= 0) s.down = 0;
	float gradient = member(s, row.flags & SOURCE ? query_embedding(p, row.query)[dim] : 0.0f);
	if (row.flags & SOURCE) p->boundary[((long long)row.query * (p->layers + 1) + t) * DIM + dim] = gradient;
	if (!p->degree_messages) return;
	float x = p->parameters[(long long)(t - 1) * p->layer_size + p->degree_at + dim];
	int copies = row.degree - p->row_admitted[i];
	gradient = 0;
	if (copies > 0) {
		gradient = fmaf(s.slope, x, s.base) * (copies - 1);
		gradient += member(s, x);
	}
	p->degree_gradients[(long long)(i - p->row_begin[t]) * DIM + dim] = gradient;
}

// bit_of is the bit of one of 32 edges, 0 for others.
DEVICE unsigned bit_of(int edge) { return edge >= 0 && edge < 32 ? 1u << edge : 0; }

// note_extremes stores for in-edges begin to end in which dimensions they attain an extreme. A lane has PER dimensions.
DEVICE void note_extremes(const Batch *p, const Row &row, const int *highest, const int *lowest, int begin, int end) {
	int lane = threadIdx.x % 32;
	for (int first = begin; first < end; first += 32) {
		unsigned bits[2 * PER];
#pragma unroll
		for (int j = 0; j < 2 * PER; j++) bits[j] = 0;
		unsigned edges = 0; // that attain any
#pragma unroll
		for (int j = 0; j < PER; j++) edges |= bit_of(highest[j] - first) | bit_of(lowest[j] - first);
#pragma unroll
		for (int lanes = 1; lanes < 32; lanes *= 2) edges |= __shfl_xor_sync(ALL, edges, lanes);
		for (; edges; edges &= edges - 1) {
			int k = __ffs(edges) - 1;
#pragma unroll
			for (int j = 0; j < PER; j++) {
				unsigned most = __ballot_sync(ALL, highest[j] == first + k), least = __ballot_sync(ALL, lowest[j] == first + k);
				if (lane == k) {
					bits[j] = most;
					bits[PER + j] = least;
				}
			}
		}
		if (first + lane >= end) continue;
#pragma unroll
		for (int j = 0; j < 2 * PER; j++) p->extremes[((long long)row.query * p->edges + first + lane) * 2 * PER + j] = bits[j];
	}
}

// set_terms reads which edges attain the extremes of row i and, where writes, stores its terms and what the other members get.
DEVICE void set_terms(const Batch *p, const Row &row, int i, int t, int *highest, int *lowest, bool writes) {
	const int *attained = p->attained + (long long)i * 2 * DIM;
#pragma unroll
	for (int j = 0; j < PER; j++) {
		int dim = threadIdx.x % 32 + 32 * j;
		highest[j] = attained[dim];
		lowest[j] = attained[DIM + dim];
		if (!writes) continue;
		float *g = p->feature_gradients + (long long)(i - p->row_begin[t]) * WIDTH + dim;
		Terms s = terms(p, row, p->features + (long long)i * WIDTH + dim, g);
		others(p, s, row, i, t, dim, highest[j], lowest[j]);
		g[DIM] = s.base;
		g[2 * DIM] = s.up;
		g[3 * DIM] = s.down;
		g[4 * DIM] = s.slope;
	}
}

// What determines the gradients of the messages of layer t, in place of those of the features. Light entities, a warp each.
SHARING(128, 1) message_terms(const Batch *p, int t) {
	int end = end_row(p, t);
	for (int i = light_row(p, t) + blockIdx.x * 4 + threadIdx.x / 32; i < end; i += gridDim.x * 4) {
		Row row = p->rows[i];
		int highest[PER], lowest[PER];
		set_terms(p, row, i, t, highest, lowest, true);
		note_extremes(p, row, highest, lowest, row.begin, row.end);
	}
}

// Heavy entities, a block each, whose warps take equal parts of the edges.
SHARING(32 * HEAVY_WARPS, 1) message_terms_heavy(const Batch *p, int t) {
	int end = light_row(p, t), warp = threadIdx.x / 32;
	for (int i = first_row(p, t) + blockIdx.x; i < end; i += gridDim.x) {
		Row row = p->rows[i];
		int highest[PER], lowest[PER];
		set_terms(p, row, i, t, highest, lowest, warp == 0);
		note_extremes(p, row, highest, lowest, share_begin(row, warp), share_begin(row, warp + 1));
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
