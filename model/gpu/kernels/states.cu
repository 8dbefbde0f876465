// Gradients of states, and of the linear map's output: what an entity gets from the receivers of its messages.
//
// The messages that an entity sends along a relation are equal, and the gradient of each is what its receiver gives: base + slope x
// message, and what the receiver's extremes add where it is the first that attains one. All that is stored of a message is in which
// dimensions it does.
#include "model.cuh"

// end_run stores what a relation's embedding gets of messages of x, whose gradients add up to sum, in the slot of the last edge.
DEVICE void end_run(const Batch *p, int query, int t, int slot, float4 x, float4 sum) {
	long long at = (long long)query * p->edges + slot;
	put4(p->run_sums, at * LANES + threadIdx.x % LANES, pass_on(zero4(), sum, x));
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

// message_gradient is what a receiver, whose terms are at an index, gives a message that attains its extremes in the dimensions of most and
// least.
DEVICE float4 message_gradient(const Batch *p, long long at, float4 message, unsigned most, unsigned least) {
	const float *__restrict__ terms = p->feature_gradients;
	float4 base = at4(terms, at + LANES), d = base;
	if (p->reduction == PNA) {
		float4 slope = at4(terms, at + 4 * LANES);
		float4 up = most == 0 ? zero4() : at4(terms, at + 2 * LANES), down = least == 0 ? zero4() : at4(terms, at + 3 * LANES);
		d = fma4(message, slope, base);
		add_extremes(d, most, up);
		add_extremes(d, least, down);
	} else if (p->reduction == MAX) {
		d = zero4();
		add_extremes(d, most, base);
	}
	return d;
}

// collect adds the gradients of the messages that an entity sends in layer t, over in-edges begin to end: every edge has its
// inverse. Each lane reads an edge; those that carry a message are shared out among the teams, in order. All lanes get the sum, four
// dimensions each.
DEVICE float4 collect(const Batch *p, const Row &row, int t, int begin, int end) {
	const float *__restrict__ embeddings = embedding_of(p, row.query, t, 0);
	int lane = threadIdx.x % 32, team = lane / LANES, part = lane % LANES, shift = part % 8 * 4;
	float4 g = zero4(), x = at4(p->states, ((long long)((t - 1 - row.distance) * p->batch + row.query) * p->entities + row.entity) * LANES + part);
	for (int first = begin; first < end; first += 32) {
		Edge edge = {0, 0, 0, {}};
		bool sent = first + lane < end && read_edge(p, row, t, first + lane, edge);
		unsigned bits = __ballot_sync(ALL, sent);
		int count = __popc(bits), each = (count + TEAMS - 1) / TEAMS, place = place_of(bits, lane);
		int current = -1, last = 0;
		float4 sum = zero4();
#pragma unroll 1
		for (int step = 0; step < each; step++) {
			int next = team * each + step;
			bool here = next < count;
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
				float4 w = at4(embeddings, relation * LANES + part), d = message_gradient(p, at, message_of(x, w), most, least);
				g = pass_on(g, d, w);
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

// A multiprocessor holds four blocks where a thread does with 64 registers.
#define BLOCKS (DIM > 64 ? 3 : 4)

// Gradients of the states of layer t, once those of layer t + 1 are there. The first blocks take heavy entities, in layer 0 the
// sources, the others light ones, a warp each.
SHARING(32 * HEAVY_WARPS, BLOCKS) state_gradients(const Batch *p, int t, int heavy) {
	__shared__ float4 sums[HEAVY_WARPS][LANES];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	bool light = blockIdx.x >= heavy;
	int end = light ? end_row(p, t) : light_row(p, t), step = light ? (gridDim.x - heavy) * HEAVY_WARPS : heavy;
	for (int i = light ? light_row(p, t) + (blockIdx.x - heavy) * HEAVY_WARPS + warp : first_row(p, t) + blockIdx.x; i < end; i += step) {
		Row row = p->rows[i];
		float4 g = zero4();
		int next = next_row(p, row, t);
		if (t < p->layers) g = collect(p, row, t + 1, light ? row.begin : share_begin(row, warp), light ? row.end : share_begin(row, warp + 1));
		if (light) {
			settle(p, i, t, next, g);
			continue;
		}
		if (lane < LANES) sums[warp][lane] = g;
		__syncthreads();
		if (warp == 0) {
#pragma unroll 1
			for (int w = 1; w < HEAVY_WARPS; w++) g = add4(g, sums[w][lane % LANES]);
			settle(p, i, t, next, g);
		}
		__syncthreads();
	}
}
