// What all kernels share: the batch that they work on, and how rows, edges and dimensions are dealt to threads.
//
// Arithmetic is + - * / sqrt and explicit fmaf, each rounded correctly, and never contracted: a card, the interpreter and
// Go compute the same bits. Sums are added in an order that depends on sizes alone, without atomics, so that two runs
// give the same bits on any device.

#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
// SHARING declares a kernel whose registers are limited so that a multiprocessor holds a number of its blocks. With 1, threads have all
// the registers that the block's size allows.
#define SHARING(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
#define DEVICE static __device__ __forceinline__

#define ALL 0xffffffffu // all lanes of a warp
#define UNREACHED 255 // hop.Unreached
#define HEAVY 512     // entities of higher degree are computed by a block, others by a warp
#define HEAVY_WARPS 8 // of that block

#ifndef DIM
#define DIM 32
#endif

#define LANES (DIM / 4)    // lanes that hold a state, four dimensions each
#define TEAMS (32 / LANES) // messages that a warp reads at a time
#define PER (DIM / 32)     // dimensions of a lane where a warp holds one state
#define STRIP 64 // rows of equal degree that linear maps take together
#define HIDDEN (2 * DIM)   // of the MLPs

#define PNA 0
#define SUM 1
#define MEAN 2
#define MAX 3

typedef unsigned char byte;
typedef unsigned long long word;
typedef int flag; // 0 or 1

// Query is a query and what leaves its graph.
struct Query {
	int source, relation, inverse; // inverse: the relation's
	int answer;
	int removal;                  // 0: nothing, 1: the fact's two edges, 2: all edges between source and answer
	int source_drop, answer_drop; // in-edges that the ends lose
	int candidates;
	int embedding, table; // the row of its relation's embedding, and which tables of relation embeddings it reads, where these depend on the query
	word seed;
};

#define SOURCE 1  // flags of a row: the query's source,
#define TOUCHED 2 // an entity that removed edges may enter or leave

// Row is the update of an entity in a layer, for a query of the batch. What kernels need of both is beside it, so that one read gets all.
struct __align__(16) Row {
	int query, entity;
	int begin, end; // in-edges
	int degree;     // in the query's graph
	int distance;
	int flags;
	int slot; // 1 + the index among the candidates, while training; 0: none
};

// Link is an edge while training: its sender, its relation's inverse, the index of its inverse edge, and its slot.
struct __align__(16) Link {
	int sender, inverse, reverse, slot;
};

// Answer is an entity to rank as the answer of a query of the batch.
struct Answer {
	int query, entity;
};

// Span is a number of successive strips of rows of equal degree, whose gradients a block of weight_partial adds up.
struct Span {
	int strip, rows;
};

// Scale is what depends on a degree n: 1 / (n + 1) and the scalers c and 1 / max(c, 0.01).
struct Scale {
	float divisor, up, down, unused;
};

// Batch is everything that kernels read and write. The rows of all layers are numbered consecutively; layer 0 has the
// sources. Those of a layer are ordered by class, heavy entities first, then query, then number of edges: the warps of a block take as long. B queries, V entities, E edges, T layers, A ages: the states of an entity, from that of age 0, when the search reaches it.
struct Batch {
	// The graph: edges by receiver, then relation, then sender.
	const int *offsets, *senders, *relations;
	const Link *links; // [E]
	const int *order;  // entities by their number of edges, most first: heavy_count have more than HEAVY
	const Scale *scales;
	// Entities by degree and those of a degree by number. A place is an index among them. For reductions without scalers all have one degree.
	const int *by_degree;    // [V]
	const int *degree_of;    // [V], by place: the index of the entity's degree
	const int *degree_begin; // [degrees + 1]: the first place of each degree
	// Every edge has a slot; slots are numbered by the relation of the edge's inverse. A piece has slots of one relation.
	const int *piece_begin;     // [pieces + 1]
	const int *relation_pieces; // [2R + 1]

	const Query *queries;                 // [B]
	const int *candidate_entities, *multiplicity; // [B, candidate_stride]; the answer first

	const float *parameters;
	float *gradients; // as parameters
	const float *query_embeddings; // of relations of queries: parameters or, where relations come from their graph, states of it

	byte *reached;              // [B, V]: distances from the sources
	byte *distances;            // [B, V]: those that decide what a layer updates and sends: reached, or zeros with policy full
	unsigned *frontier, *found; // [ceil(B / 32), V], a bit a query
	unsigned *seen;
	byte *active;  // [T + 1, B, V]: whether a layer updates an entity
	int *slots;    // [B, V]: 1 + an entity's index among the candidates
	int *counts;   // [T + 1, 2, B] rows, of heavy entities first
	int *starts;   // likewise: the first row
	int *row_begin; // [T + 2]
	int *heavy_end; // [T + 1]
	Row *rows;
	int *row_numbers; // [T + 1, B, V]: 1 + the row of an update in its layer; 0: none, or, unless training, anything
	int *row_degree; // by row
	int *row_admitted, *row_sent; // by row: edges that the window admits, and messages that are not empty
	int *places;      // [T, V + 1], by place: the rows of a layer of the entities before it
	int *strips;      // [T, strip_stride, STRIP]: 1 + rows of a layer, by degree, those of a strip all of one; 0 behind the last one of a degree
	int *strip_begin; // [T, degrees + 1]: the first strip of each degree. Behind the last, the ends of each query that lose edges have a strip each
	Span *spans;      // [T, span_stride]. While training
	int *span_counts; // [T]
	unsigned *masks; // of dropout, by row, [PER]

	float *dependent;  // [tables, T, 2R, DIM]: embeddings of relations, where they depend on the query
	float *maps;       // [T, width, columns] linear maps
	float *transposed; // [T, columns, width]
	float *mlp_maps;   // [2, DIM, HIDDEN]: weights of states in the MLPs of scores and attention, where these do not fit shared memory

	float *states;     // [A, B, V, DIM]
	float *features;   // [rows, width]: own state, mean, maximum, minimum and deviation of the messages, or their one reduction
	float *normalized; // [rows, DIM]
	float *deviations; // [rows]: 1 / standard deviation

	float *shift;     // [2, B, HIDDEN]: the MLPs' part of the query's embedding
	// The MLPs' rows: B x candidate_stride of the score MLP, and behind them, where delta is specific, as many x A of the attention's.
	float *final;            // [MLP rows, DIM]: inputs
	float *hidden;           // [MLP rows, HIDDEN]
	float *scores;           // [MLP rows]: outputs
	float *score_gradients;  // [MLP rows]
	float *hidden_gradients; // [MLP rows, HIDDEN]
	float *attention;        // [B, candidate_stride, A]: weights of the states
	float *losses; // [B]

	float *final_gradients; // [B, candidate_stride, A or 1, DIM]
	float *gradient;        // of states, by row
	float *linear;          // gradient of the linear map's output, by row
	float *affine;          // gradient of the layer norm's output, by row
	float *feature_gradients; // [rows of a layer, width]: that of the own state, and of the others' base, up, down and slope, or one of them, see Terms
	float *degree_gradients;  // [rows of a layer, DIM]
	float *boundary;          // [B, T + 1, DIM]: gradient of the sources' boundary
	int *attained;            // by row, [2, DIM]: the edge whose message is the first maximum, and minimum, or -1
	unsigned *extremes;       // [B, E, 2, PER]: dimensions in which an edge's message is that
	float *run_sums;          // [B, E, DIM], by slot: what messages of an entity along a relation add to the gradient of its embedding
	byte *run_layers;         // [B, E], by slot: the layer that this is of; 0: none
	float *relation_partials; // [T, B, pieces, DIM]
	float *relation_gradients; // [B, T, 2R, DIM]
	float *query_gradients;   // [B, DIM]
	float *partial;           // of sums over rows
	Scale *span_scales;       // [span_stride], of a layer

	int *bad;         // 1 where a loss or a gradient is not finite
	long long *sent;  // [T, B] messages

	int entities, edges, relation_count, layers, ages, delta, batch, heavy_count;
	int pieces, candidate_stride, reduction;
	int width, columns; // of a linear map: features of a row, and outputs before the scalers 1, c, 1 / c combine them
	int degrees, strip_stride, span_stride;
	flag specific, training, dependent_relations, bias, degree_messages;
	// relation_at: the table of a layer, the linear map that makes it, or the first of the two that do
	int layer_size, linear_at, linear_bias_at, scale_at, shift_at, relation_at, relation_bias_at, degree_at;
	int query_at, mlp_at, attention_at;
	flag accumulate;
	int threshold, parts, live; // live: dimensions of the model, the others are 0; threshold: dropout keeps a dimension where 16 random bits are at least this
	float keep_scale, temperature, attention_temperature, share;
};

// The index of feature f under scaler s in a row of the stored linear map, or -1 where it has none: the own state has one
// scaler, and so have reductions other than PNA.
DEVICE int stored(int reduction, int f, int s) {
	if (reduction == PNA && f >= DIM) return DIM + (f % DIM * 4 + f / DIM - 1) * 3 + s;
	return s == 0 ? f : -1;
}

// stored_width is the length of a row of the stored linear map.
DEVICE int stored_width(const Batch *p) { return p->reduction == PNA ? 13 * DIM : 2 * DIM; }

// has_extremes reports whether single messages get a gradient because they attain an extreme.
DEVICE bool has_extremes(const Batch *p) { return p->reduction == PNA || p->reduction == MAX; }

// The first row of a layer, that of its light entities, and the end.
DEVICE int first_row(const Batch *p, int t) { return p->row_begin[t]; }
DEVICE int light_row(const Batch *p, int t) { return p->heavy_end[t]; }
DEVICE int end_row(const Batch *p, int t) { return p->row_begin[t + 1]; }

// The row of the features of row i of layer t: training keeps those of all layers.
DEVICE long long feature_row(const Batch *p, int t, int i) { return p->training ? i : i - p->row_begin[t]; }

// share_begin is the first in-edge of a warp's share of a heavy entity, a multiple of 32 behind the entity's first.
DEVICE int share_begin(const Row &row, int warp) {
	int chunks = (row.end - row.begin + 31) / 32, each = (chunks + HEAVY_WARPS - 1) / HEAVY_WARPS;
	return min(row.begin + 32 * each * warp, row.end);
}

DEVICE int inverse_of(int relation, int relations) {
	return relation < relations / 2 ? relation + relations / 2 : relation - relations / 2;
}

// removed reports whether the edge u -r-> o is not in the query's graph.
DEVICE bool removed(const Query &q, int u, int r, int o) {
	if (q.removal == 0) return false;
	if (u == q.source && o == q.answer && (q.removal == 2 || r == q.relation)) return true;
	return u == q.answer && o == q.source && (q.removal == 2 || r == q.inverse);
}

// ends is the number of rows of a layer that may have another degree than their entity has in the whole graph, where that matters.
DEVICE int ends(const Batch *p) { return p->reduction == PNA ? 2 * p->batch : 0; }

// end_of returns the number of such a row among them, or -1.
DEVICE int end_of(const Batch *p, int b, int v) {
	if (p->reduction != PNA) return -1;
	if (v == p->queries[b].source) return p->queries[b].source_drop > 0 ? 2 * b : -1;
	return v == p->queries[b].answer && p->queries[b].answer_drop > 0 ? 2 * b + 1 : -1;
}

// The strips of a layer.
DEVICE int strip_count(const Batch *p, int t) { return p->strip_begin[t * (p->degrees + 1) - 1] + ends(p); }

// The rows of a strip of layer t, as 1 + their numbers in the layer.
DEVICE const int *strip_rows(const Batch *p, int t, int strip) { return p->strips + ((long long)(t - 1) * p->strip_stride + strip) * STRIP; }

DEVICE bool touched(const Query &q, int o) { return q.removal != 0 && (o == q.source || o == q.answer); }

DEVICE int last_age(const Batch *p, int distance) { return min(p->delta, p->layers - distance); }

// The embedding of relation r for a query in layer t, from 1.
DEVICE const float *embedding_of(const Batch *p, int b, int t, int r) {
	if (p->dependent_relations) return p->dependent + (((long long)p->queries[b].table * p->layers + t - 1) * p->relation_count + r) * DIM;
	return p->parameters + (long long)(t - 1) * p->layer_size + p->relation_at + r * DIM;
}

DEVICE const float *query_embedding(const Batch *p, int b) { return p->query_embeddings + (long long)p->queries[b].embedding * DIM; }

DEVICE float4 at4(const float *values, long long i) { return ((const float4 *)values)[i]; }
DEVICE void put4(float *values, long long i, float4 x) { ((float4 *)values)[i] = x; }

DEVICE float4 zero4() { return make_float4(0, 0, 0, 0); }
DEVICE float4 add4(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
DEVICE float4 mul4(float4 a, float4 b) { return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w); }
DEVICE float4 fma4(float4 a, float4 b, float4 c) {
	return make_float4(fmaf(a.x, b.x, c.x), fmaf(a.y, b.y, c.y), fmaf(a.z, b.z, c.z), fmaf(a.w, b.w, c.w));
}
DEVICE float4 scale4(float4 a, float s) { return make_float4(a.x * s, a.y * s, a.z * s, a.w * s); }
DEVICE float4 across4(float4 a, int lanes) {
	return make_float4(__shfl_xor_sync(ALL, a.x, lanes), __shfl_xor_sync(ALL, a.y, lanes), __shfl_xor_sync(ALL, a.z, lanes),
	                   __shfl_xor_sync(ALL, a.w, lanes));
}

// fold returns the weights of a degree, of those under the scalers 1, c and 1 / c.
DEVICE float4 fold(const float4 (&w)[3], Scale scale) {
	float4 up = make_float4(scale.up, scale.up, scale.up, scale.up), down = make_float4(scale.down, scale.down, scale.down, scale.down);
	return fma4(w[2], down, fma4(w[1], up, w[0]));
}

// message_of is four dimensions of the message of a state x along a relation with embedding w.
DEVICE float4 message_of(float4 x, float4 w) { return mul4(x, w); }

// pass_on adds to the gradient of one of the two that a message is made of, from that of the message and the other.
DEVICE float4 pass_on(float4 sum, float4 gradient, float4 other) { return fma4(gradient, other, sum); }

// sum_teams adds the teams' values; every lane gets the sum.
DEVICE float4 sum_teams(float4 a) {
#pragma unroll
	for (int lanes = LANES; lanes < 32; lanes *= 2) a = add4(a, across4(a, lanes));
	return a;
}

// sum_dims adds the values of the LANES lanes of a team.
DEVICE float sum_dims(float x) {
#pragma unroll
	for (int lanes = 1; lanes < LANES; lanes *= 2) x += __shfl_xor_sync(ALL, x, lanes);
	return x;
}

DEVICE float sum_warp(float x) {
#pragma unroll
	for (int lanes = 1; lanes < 32; lanes *= 2) x += __shfl_xor_sync(ALL, x, lanes);
	return x;
}

DEVICE float max_warp(float x) {
#pragma unroll
	for (int lanes = 1; lanes < 32; lanes *= 2) x = fmaxf(x, __shfl_xor_sync(ALL, x, lanes));
	return x;
}

// sum_before returns the sum of what the threads before have, of 1024, and sets all to that of all. The next call needs other sums.
DEVICE int sum_before(int x, int *sums, int &all) {
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = x, before = 0;
#pragma unroll
	for (int lanes = 1; lanes < 32; lanes *= 2) {
		int below = __shfl_up_sync(ALL, sum, lanes);
		if (lane >= lanes) sum += below;
	}
	if (lane == 31) sums[warp] = sum;
	__syncthreads();
	all = 0;
	for (int w = 0; w < 32; w++) {
		if (w == warp) before = all;
		all += sums[w];
	}
	return before + sum - x;
}

// relu keeps a NaN, which fmaxf would lose: a model that is not finite must not look as if it were.
DEVICE float relu(float x) { return x < 0.0f ? 0.0f : x; }

// exponential, logarithm1p and logarithm use fused additions alone: expf and logf would be approximations that only a card computes.
DEVICE float exponential(float x) {
	x = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x; // fminf and fmaxf would lose a NaN
	float n = rintf(x * 1.44269504f);
	float r = fmaf(n, -0.693145752f, x);
	r = fmaf(n, -1.42860677e-6f, r);
	float e = fmaf(r, 1.0f / 5040, 1.0f / 720);
	e = fmaf(e, r, 1.0f / 120);
	e = fmaf(e, r, 1.0f / 24);
	e = fmaf(e, r, 1.0f / 6);
	e = fmaf(e, r, 0.5f);
	e = fmaf(e, r, 1.0f);
	e = fmaf(e, r, 1.0f);
	return e * __int_as_float(((int)n + 127) << 23);
}

// logarithm1p is log(1 + y) for 0 <= y <= 1: 2 atanh(y / (2 + y)).
DEVICE float logarithm1p(float y) {
	float s = y / (2.0f + y), z = s * s;
	float e = fmaf(z, 1.0f / 15, 1.0f / 13);
	e = fmaf(e, z, 1.0f / 11);
	e = fmaf(e, z, 1.0f / 9);
	e = fmaf(e, z, 1.0f / 7);
	e = fmaf(e, z, 0.2f);
	e = fmaf(e, z, 1.0f / 3);
	e = fmaf(e, z, 1.0f);
	return 2.0f * s * e;
}

// logarithm is log(y) for y > 0 that is not subnormal: that of its power of two, and of what is left. It keeps a NaN.
DEVICE float logarithm(float y) {
	int bits = __float_as_int(y);
	float n = (bits >> 23) - 127, rest = y / __int_as_float(bits & 0x7f800000);
	return fmaf(n, 0.693145752f, fmaf(n, 1.42860677e-6f, logarithm1p(rest - 1.0f)));
}

DEVICE float softplus(float x) { return relu(x) + logarithm1p(exponential(-fabsf(x))); }

DEVICE float sigmoid(float x) {
	float e = exponential(-fabsf(x));
	return (x >= 0 ? 1.0f : e) / (1.0f + e);
}
