// The backward pass of a layer: gradients of states, of the linear map's output, of messages and their relations.
//
// A message is the product of a state and a relation's embedding, so the messages that an entity sends along a relation are equal, and
// the gradient of each is what its receiver gives: base + slope x message, and what the receiver's extremes add where it is the
// first that attains one. All that is stored of a message is in which dimensions it does.
#include "model.cuh"

// end_run stores what a relation's embedding gets of messages of x, whose gradients add up to sum, in the slot of the last edge.
DEVICE void end_run(const Batch *p, int query, int t, int slot, float4 x, float4 sum) {
	long long at = (long long)query * p->edges + slot;
	put4(p->run_sums, at * LANES + threadIdx.x % LANES, mul4(sum, x));
	if (threadIdx.x % LANES == 0) p->run_layers[at] = t;
}

// add_extremes adds the gradients of those of four dimensions that bits name.
DEVICE void add_extremes(float4 &sum, unsigned bits, float4 g) {
	sum.x += bits & 1 ? g.x : 0.0f;
	sum.y += bits & 2 ? g.y : 0.0f;
	sum.z += bits & 4 ? g.z : 0.0f;
	sum.w += bits & 8 ? g.w : 0.0f;
}

// place_of is the index of the set bit with a number of set bits below it, 31 at most.
DEVICE int place_of(unsigned bits, int number) {
	int place = 0;
#pragma unroll
	for (int half = 16; half > 0; half /= 2)
		if (__popc(bits & ((1u << (place + half)) - 1)) <= number) place += half;
	return place;
}

// Edge is what a lane knows of an in-edge, whose inverse carries a message.
struct Edge {
	int from, relation, slot;  // the receiver's row in its layer, the message's relation, and the slot of its run
	unsigned extremes[2 * PER]; // dimensions in which it attains the maximum, then the minimum
};

// read_edge reports whether the inverse of an in-edge carries a message in layer t.
DEVICE bool read_edge(const Batch *p, const Row &row, int t, int e, Edge &edge) {
	Link link = p->links[e];
	long long at = (long long)row.query * p->edges + link.reverse;
	int number = p->row_numbers[((long long)t * p->batch + row.query) * p->entities + link.sender];
	edge.from = number - 1;
	edge.relation = link.inverse;
	edge.slot = link.slot;
	if (number == 0) return false;
#pragma unroll
	for (int j = 0; j < 2 * PER && has_extremes(p); j++) edge.extremes[j] = p->extremes[at * 2 * PER + j];
	return !(row.flags & TOUCHED && removed(p->queries[row.query], link.sender, inverse_of(link.inverse, p->relation_count), row.entity));
}

// collect adds the gradients of the messages that an entity sends in layer t, over in-edges begin to end: every edge has its
// inverse. Each lane reads an edge; those that carry a message are shared out among the teams, in order. All lanes get the sum, four
// dimensions each.
DEVICE float4 collect(const Batch *p, const Row &row, int t, int begin, int end) {
	const float *__restrict__ gradients = p->feature_gradients;
	const float *__restrict__ embeddings = embedding_of(p, row.query, t, 0);
	int lane = threadIdx.x % 32, team = lane / LANES, part = lane % LANES, shift = part % 8 * 4;
	float4 g = zero4(), x = at4(p->states, ((long long)((t - 1 - row.distance) * p->batch + row.query) * p->entities + row.entity) * LANES + part);
	for (int first = begin; first < end; first += 32) {
		Edge edge = {0, 0, 0, {}};
		bool sent = first + lane < end && read_edge(p, row, t, first + lane, edge);
		unsigned bits = __ballot_sync(ALL, sent);
		int count = __popc(bits), each = (count + TEAMS - 1) / TEAMS, place = place_of(bits, lane);
		int next = team * each, stop = min(next + each, count), current = -1, last = 0;
		float4 sum = zero4();
#pragma unroll 1
		for (int step = 0; step < each; step++, next++) {
			bool here = next < stop;
			int of = __shfl_sync(ALL, place, min(next, 31));
			long long at = (long long)__shfl_sync(ALL, edge.from, of) * (p->width / 4) + part;
			int relation = __shfl_sync(ALL, edge.relation, of), slot = __shfl_sync(ALL, edge.slot, of);
			unsigned most = 0, least = 0;
#pragma unroll
			for (int j = 0; j < PER; j++) {
				unsigned high = __shfl_sync(ALL, edge.extremes[j], of), low = __shfl_sync(ALL, edge.extremes[PER + j], of);
				if (part / 8 == j) {
					most = high >> shift & 15;
					least = low >> shift & 15;
				}
			}
			if (here) {
				float4 base = at4(gradients, at + LANES), w = at4(embeddings, relation * LANES + part), d = base;
				if (p->reduction == PNA) {
					float4 slope = at4(gradients, at + 4 * LANES);
					float4 up = most == 0 ? zero4() : at4(gradients, at + 2 * LANES), down = least == 0 ? zero4() : at4(gradients, at + 3 * LANES);
					d = fma4(mul4(x, w), slope, base);
					add_extremes(d, most, up);
					add_extremes(d, least, down);
				} else if (p->reduction == MAX) {
					d = zero4();
					add_extremes(d, most, base);
				}
				g = fma4(d, w, g);
				if (relation != current) {
					if (current >= 0) end_run(p, row.query, t, last, x, sum);
					current = relation;
					sum = zero4();
				}
				last = slot;
				sum = add4(sum, d);
			}
		}
		if (current >= 0) end_run(p, row.query, t, last, x, sum);
	}
	return sum_teams(g);
}

// next_row is 1 + the entity's row in the layer behind t, or 0.
DEVICE int next_row(const Batch *p, const Row &row, int t) {
	return t < p->layers ? p->row_numbers[((long long)(t + 1) * p->batch + row.query) * p->entities + row.entity] : 0;
}

// settle completes the gradient of row i's state after layer t, and, but for the sources in layer 0, takes it through the residual
// update to the linear map's output.
DEVICE void settle(const Batch *p, int i, int t, int next, float4 g) {
	const Row row = p->rows[i]; // again: registers are scarce while messages are read
	int lane = threadIdx.x % 32, part = lane % LANES;
	int age = t - row.distance;
	if (row.slot > 0 && (p->specific || age == last_age(p, row.distance))) {
		long long at = (long long)row.query * p->candidate_stride + row.slot - 1;
		if (p->specific) at = at * p->ages + age;
		g = add4(g, at4(p->final_gradients, at * LANES + part));
	}
	if (next) { // the entity's row in layer t + 1, from 1
		g = add4(g, at4(p->gradient, (long long)(p->row_begin[t + 1] + next - 1) * LANES + part));
		g = add4(g, at4(p->feature_gradients + (long long)(next - 1) * p->width, part));
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

// Gradients of the states of layer t, once those of layer t + 1 are there. The first blocks take heavy entities, in layer 0 the
// sources, the others light ones, a warp each.
SHARING(32 * HEAVY_WARPS, 3) state_gradients(const Batch *p, int t, int heavy) {
	__shared__ float4 sums[HEAVY_WARPS][LANES];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	if (blockIdx.x >= heavy) {
		int end = end_row(p, t), warps = (gridDim.x - heavy) * HEAVY_WARPS;
		for (int i = light_row(p, t) + (blockIdx.x - heavy) * HEAVY_WARPS + warp; i < end; i += warps) {
			Row row = p->rows[i];
			float4 g = zero4();
			int next = next_row(p, row, t);
			if (t < p->layers) g = collect(p, row, t + 1, row.begin, row.end);
			settle(p, i, t, next, g);
		}
		return;
	}
	int end = light_row(p, t);
	for (int i = first_row(p, t) + blockIdx.x; i < end; i += heavy) {
		Row row = p->rows[i];
		float4 g = zero4();
		if (t < p->layers) g = collect(p, row, t + 1, share_begin(row, warp), share_begin(row, warp + 1));
		if (lane < LANES) sums[warp][lane] = g;
		__syncthreads();
		if (warp == 0) {
#pragma unroll 1
			for (int w = 1; w < HEAVY_WARPS; w++) g = add4(g, sums[w][lane % LANES]);
			settle(p, i, t, next_row(p, row, t), g);
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
	float divisor = p->scales[row.degree].divisor;
	if (p->reduction == SUM) return {g[DIM]};
	if (p->reduction == MEAN) return {g[DIM] * divisor};
	if (p->reduction == MAX) return {0, 0, f[DIM], 0, g[DIM], 0};
	float mean = f[DIM], deviation = f[4 * DIM];
	float slope = deviation > 1e-3f ? g[4 * DIM] * divisor / deviation : 0.0f;
	return {fmaf(-slope, mean, g[DIM] * divisor), slope, f[2 * DIM], f[3 * DIM], g[2 * DIM], g[3 * DIM]};
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
		if (first + lane < end) {
			long long at = (long long)row.query * p->edges + first + lane;
#pragma unroll
			for (int j = 0; j < 2 * PER; j++) p->extremes[at * 2 * PER + j] = bits[j];
		}
	}
}

// set_terms reads which edges attain the extremes of row i and, where writes, stores its terms and what the other members get.
DEVICE void set_terms(const Batch *p, const Row &row, int i, int t, int *highest, int *lowest, bool writes) {
	const int *attained = p->attained + (long long)i * 2 * DIM;
#pragma unroll
	for (int j = 0; j < PER; j++) {
		int dim = threadIdx.x % 32 + 32 * j;
		highest[j] = has_extremes(p) ? attained[dim] : -1;
		lowest[j] = has_extremes(p) ? attained[DIM + dim] : -1;
		if (!writes) continue;
		float *g = p->feature_gradients + (long long)(i - p->row_begin[t]) * p->width + dim;
		Terms s = terms(p, row, p->features + (long long)i * p->width + dim, g);
		others(p, s, row, i, t, dim, highest[j], lowest[j]);
		g[DIM] = p->reduction == MAX ? s.up : s.base;
		if (p->reduction != PNA) continue;
		g[2 * DIM] = s.up;
		g[3 * DIM] = s.down;
		g[4 * DIM] = s.slope;
	}
}

// What determines the gradients of the messages of layer t, in place of those of the features. The first blocks take heavy
// entities, whose edges their warps share, the others light ones, a warp each.
SHARING(32 * HEAVY_WARPS, 1) message_terms(const Batch *p, int t, int heavy) {
	int warp = threadIdx.x / 32, highest[PER], lowest[PER];
	if (blockIdx.x >= heavy) {
		int end = end_row(p, t), warps = (gridDim.x - heavy) * HEAVY_WARPS;
		for (int i = light_row(p, t) + (blockIdx.x - heavy) * HEAVY_WARPS + warp; i < end; i += warps) {
			Row row = p->rows[i];
			set_terms(p, row, i, t, highest, lowest, true);
			if (has_extremes(p)) note_extremes(p, row, highest, lowest, row.begin, row.end);
		}
		return;
	}
	int end = light_row(p, t);
	for (int i = first_row(p, t) + blockIdx.x; i < end; i += heavy) {
		Row row = p->rows[i];
		set_terms(p, row, i, t, highest, lowest, warp == 0);
		if (has_extremes(p)) note_extremes(p, row, highest, lowest, share_begin(row, warp), share_begin(row, warp + 1));
	}
}

// The gradient of the relations' embeddings in layer t, a piece of a relation's slots and a query at a time, a warp each.
KERNEL(128) relation_partial(const Batch *p, int t) {
	int lane = threadIdx.x % 32, team = lane / LANES, part = lane % LANES;
	for (int i = blockIdx.x * 4 + threadIdx.x / 32; i < p->batch * p->pieces; i += gridDim.x * 4) {
		int b = i / p->pieces, piece = i % p->pieces, end = p->piece_begin[piece + 1];
		const byte *__restrict__ layers = p->run_layers + (long long)b * p->edges;
		const float4 *__restrict__ sums = (const float4 *)p->run_sums + (long long)b * p->edges * LANES;
		float4 sum = zero4();
		for (int first = p->piece_begin[piece]; first < end; first += 128) {
			bool there[4];
#pragma unroll
			for (int j = 0; j < 4; j++) there[j] = first + 32 * j + lane < end && layers[first + 32 * j + lane] == t;
#pragma unroll
			for (int j = 0; j < 4; j++) {
				unsigned bits = __ballot_sync(ALL, there[j]);
				int count = __popc(bits);
#pragma unroll
				for (int k = 0; k < TEAMS - 1; k++)
					if (k < team) bits &= bits - 1;
				for (int k = 0; k < count; k += 2 * TEAMS) {
					float4 x[2];
#pragma unroll
					for (int l = 0; l < 2; l++) {
						int next = __ffs(bits) - 1;
#pragma unroll
						for (int m = 0; m < TEAMS; m++) bits &= bits - 1;
						x[l] = next < 0 ? zero4() : sums[(long long)(first + 32 * j + next) * LANES + part];
					}
					sum = add4(sum, add4(x[0], x[1]));
				}
			}
		}
		sum = sum_teams(sum);
		if (lane < LANES) put4(p->relation_partials, (long long)i * LANES + part, sum);
	}
}

// The sums of the relations' pieces. A thread a dimension.
KERNEL(256) relation_sum(const Batch *p, int t) {
	int size = p->relation_count * DIM;
	for (int i = blockIdx.x * 256 + threadIdx.x; i < p->batch * size; i += gridDim.x * 256) {
		int b = i / size, r = i % size / DIM, j = i % DIM;
		float sum = 0;
		for (int piece = p->relation_pieces[r]; piece < p->relation_pieces[r + 1]; piece++)
			sum += p->relation_partials[((long long)b * p->pieces + piece) * DIM + j];
		p->relation_gradients[((long long)b * p->layers + t - 1) * size + r * DIM + j] = sum;
	}
}
