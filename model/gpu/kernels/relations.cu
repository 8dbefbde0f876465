// Where relations come from their graph: the maps from the states of relations to the tables of the layers, forward and backward. A
// row of a table is what two linear maps, with ReLU between them, make of the state of the inverse relation. The maps lie one
// behind the other, each the weight and the bias. Bases are the base relations whose states queries share.
#include "model.cuh"

#define ROWS (1024 / DIM)     // of a block, of which a thread computes every SPREAD-th in one output
#define SPREAD (256 / DIM)    //
#define EACH (ROWS / SPREAD)  // rows of a thread
#define TILE 32               // inputs at a time
#define MAP (DIM * DIM + DIM) // parameters of a map
#define PIECE 256             // rows of a partial sum of the maps' gradients
#define GROUP 16              // rows that project_weights reads at a time

// Place is what a thread computes: an output of EACH rows of a block.
struct Place {
	int output, row;
};

DEVICE Place place() { return {(int)threadIdx.x % DIM, (int)threadIdx.x / DIM}; }

// multiply adds the products of a linear map's weight, or its transpose, and rows that the block has written to x, which it may change
// afterwards.
template <bool transposed>
DEVICE void multiply(float (&y)[EACH], const float *weight, const float (&x)[ROWS][DIM], float (&w)[TILE][DIM + 1]) {
	Place to = place();
#pragma unroll 1
	for (int k = 0; k < DIM; k += TILE) {
		for (int i = threadIdx.x; i < TILE * DIM; i += 256) {
			if (transposed) w[i / DIM][i % DIM] = weight[k * DIM + i];
			else w[i % TILE][i / TILE] = weight[i / TILE * DIM + k + i % TILE];
		}
		__syncthreads();
#pragma unroll 8
		for (int j = 0; j < TILE; j++)
#pragma unroll
			for (int i = 0; i < EACH; i++) y[i] = fmaf(x[to.row + i * SPREAD][k + j], w[j][to.output], y[i]);
		__syncthreads();
	}
}

DEVICE const float *maps_of(const Batch *p, int t) { return p->parameters + (long long)t * p->layer_size + p->relation_at; }

// Tables from the final states of a propagation between relations, [bases, 2R, DIM], for the slots of the bases. embeddings, [slots, 2R,
// DIM], receives the states, and projected, [bases, T, 2R, DIM], what is between the maps, unless it is null.
SHARING(256, 1) project(const Batch *p, int bases, const float *states, const int *slots, float *embeddings, float *projected) {
	__shared__ float x[ROWS][DIM], w[TILE][DIM + 1];
	Place to = place();
	int relations = p->relation_count, chunks = (relations + ROWS - 1) / ROWS;
	for (int n = blockIdx.x; n < bases * p->layers * chunks; n += gridDim.x) {
		int base = n / (p->layers * chunks), t = n / chunks % p->layers, first = n % chunks * ROWS + to.row, slot = slots[base];
		const float *maps = maps_of(p, t);
		float y[EACH];
#pragma unroll
		for (int i = 0; i < EACH; i++) {
			int r = first + i * SPREAD, inverse = inverse_of(r, relations);
			float state = r < relations ? states[((long long)base * relations + inverse) * DIM + to.output] : 0.0f;
			if (t == 0 && r < relations) embeddings[((long long)slot * relations + inverse) * DIM + to.output] = state;
			x[to.row + i * SPREAD][to.output] = state;
			y[i] = maps[DIM * DIM + to.output];
		}
		multiply<false>(y, maps, x, w);
#pragma unroll
		for (int i = 0; i < EACH; i++) {
			int r = first + i * SPREAD;
			float h = relu(y[i]);
			if (projected && r < relations) projected[(((long long)base * p->layers + t) * relations + r) * DIM + to.output] = h;
			x[to.row + i * SPREAD][to.output] = h;
			y[i] = maps[MAP + DIM * DIM + to.output];
		}
		multiply<false>(y, maps + MAP, x, w);
#pragma unroll
		for (int i = 0; i < EACH; i++) {
			int r = first + i * SPREAD;
			if (r < relations) p->dependent[(((long long)slot * p->layers + t) * relations + r) * DIM + to.output] = y[i];
		}
	}
}

// Gradients of the tables, [bases, T, 2R, DIM], the sums over the queries, and of the first map's outputs.
SHARING(256, 1) project_backward(const Batch *p, int bases, const float *projected, float *by_table, float *by_hidden) {
	__shared__ float x[ROWS][DIM], w[TILE][DIM + 1];
	Place to = place();
	int relations = p->relation_count, chunks = (relations + ROWS - 1) / ROWS;
	for (int n = blockIdx.x; n < bases * p->layers * chunks; n += gridDim.x) {
		int base = n / (p->layers * chunks), t = n / chunks % p->layers, first = n % chunks * ROWS + to.row;
		float y[EACH];
#pragma unroll
		for (int i = 0; i < EACH; i++) y[i] = 0;
		for (int b = 0; b < p->batch; b++) {
			if (p->queries[b].table != base) continue;
			const float *gradients = p->relation_gradients + ((long long)b * p->layers + t) * relations * DIM + to.output;
#pragma unroll
			for (int i = 0; i < EACH; i++) {
				int r = first + i * SPREAD;
				if (r < relations) y[i] += gradients[r * DIM];
			}
		}
		long long at = (((long long)base * p->layers + t) * relations + first) * DIM + to.output;
#pragma unroll
		for (int i = 0; i < EACH; i++) {
			x[to.row + i * SPREAD][to.output] = y[i];
			if (first + i * SPREAD < relations) by_table[at + i * SPREAD * DIM] = y[i];
			y[i] = 0;
		}
		multiply<true>(y, maps_of(p, t) + MAP, x, w);
#pragma unroll
		for (int i = 0; i < EACH; i++)
			if (first + i * SPREAD < relations) by_hidden[at + i * SPREAD * DIM] = projected[at + i * SPREAD * DIM] > 0 ? y[i] : 0.0f;
	}
}

// Gradients of the final states, [bases, 2R, DIM], through the first maps of all layers and as queries' embeddings.
SHARING(256, 1) project_states(const Batch *p, int bases, const float *by_hidden, float *gradients) {
	__shared__ float x[ROWS][DIM], w[TILE][DIM + 1];
	Place to = place();
	int relations = p->relation_count, chunks = (relations + ROWS - 1) / ROWS;
	for (int n = blockIdx.x; n < bases * chunks; n += gridDim.x) {
		int base = n / chunks, first = n % chunks * ROWS + to.row;
		float y[EACH];
#pragma unroll
		for (int i = 0; i < EACH; i++) y[i] = 0;
		for (int t = 0; t < p->layers; t++) {
#pragma unroll
			for (int i = 0; i < EACH; i++) {
				int r = first + i * SPREAD;
				long long at = ((long long)base * p->layers + t) * relations + inverse_of(r, relations);
				x[to.row + i * SPREAD][to.output] = r < relations ? by_hidden[at * DIM + to.output] : 0.0f;
			}
			multiply<true>(y, maps_of(p, t), x, w);
		}
		for (int b = 0; b < p->batch; b++) {
			if (p->queries[b].table != base) continue;
			float gradient = p->query_gradients[b * DIM + to.output];
#pragma unroll
			for (int i = 0; i < EACH; i++)
				if (first + i * SPREAD == p->queries[b].relation) y[i] += gradient;
		}
#pragma unroll
		for (int i = 0; i < EACH; i++)
			if (first + i * SPREAD < relations) gradients[((long long)base * relations + first + i * SPREAD) * DIM + to.output] = y[i];
	}
}

// Partial sums of the maps' gradients over PIECE rows of all bases. A block a piece, layer and map; partial has them in this order.
KERNEL(256) project_weights(const Batch *p, int bases, const float *states, const float *projected, const float *by_table, const float *by_hidden, float *partial) {
	__shared__ float4 x[GROUP][LANES];
	__shared__ float g[GROUP][DIM];
	constexpr int outputs = 256 / LANES, each = DIM / outputs;
	int relations = p->relation_count, rows = bases * relations, thread = threadIdx.x, part = thread % LANES, output = thread / LANES;
	int second = blockIdx.x % 2, t = blockIdx.x / 2 % p->layers, piece = blockIdx.x / (2 * p->layers);
	float4 c[each];
	float bias = 0;
#pragma unroll
	for (int j = 0; j < each; j++) c[j] = zero4();
	int end = min((piece + 1) * PIECE, rows);
	for (int first = piece * PIECE; first < end; first += GROUP) {
		for (int i = thread; i < GROUP * DIM; i += 256) {
			int row = first + i / DIM, base = row / relations, r = row % relations;
			long long at = (((long long)base * p->layers + t) * relations + r) * DIM + i % DIM;
			bool there = row < end;
			((float *)x)[i] = !there ? 0.0f : second ? projected[at] : states[((long long)base * relations + inverse_of(r, relations)) * DIM + i % DIM];
			((float *)g)[i] = !there ? 0.0f : second ? by_table[at] : by_hidden[at];
		}
		__syncthreads();
		for (int row = 0; row < GROUP; row++) {
#pragma unroll
			for (int j = 0; j < each; j++) {
				float y = g[row][output + j * outputs];
				c[j] = fma4(x[row][part], make_float4(y, y, y, y), c[j]);
			}
			if (thread < DIM) bias += g[row][thread];
		}
		__syncthreads();
	}
	float *out = partial + (long long)blockIdx.x * MAP;
#pragma unroll
	for (int j = 0; j < each; j++) put4(out, (output + j * outputs) * LANES + part, c[j]);
	if (thread < DIM) out[DIM * DIM + thread] = bias;
}

// The maps' gradients: the sums of the pieces. A thread a parameter.
KERNEL(256) project_sum(const Batch *p, int pieces, const float *partial) {
	int i = blockIdx.x * 256 + threadIdx.x, size = p->layers * 2 * MAP;
	if (i >= size) return;
	float sum = 0;
	for (int piece = 0; piece < pieces; piece++) sum += partial[(long long)piece * size + i];
	float *to = p->gradients + (long long)(i / (2 * MAP)) * p->layer_size + p->relation_at + i % (2 * MAP);
	*to = p->accumulate ? *to + sum : sum;
}
