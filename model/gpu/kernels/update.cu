// The node update: [n, WIDTH] x [WIDTH, COLUMNS], the scalers, layer norm, ReLU, dropout and the residual.
#include "model.cuh"

#define ROWS 64 // of a block; a thread computes 8 rows by 4 outputs under three scalers
#define TILE 8  // features at a time
#define THREADS (8 * LANES)
#define ALL_READ (ROWS * TILE / 4 >= THREADS)   // whether every thread copies features
#define READ (ALL_READ ? ROWS * TILE / 4 / THREADS : 1) // features that a thread copies, four at a time
#define MAPPED (TILE * COLUMNS / 4 / THREADS) // likewise weights

// Target is what the end of an update needs to know of a row.
struct Target {
	float up, down;
	int state; // index of the state that the update writes
	unsigned masks[PER];
};

// multiply adds the products of a tile of features for the first scalers. a and w are at the thread's rows and outputs.
template <int scalers>
DEVICE void multiply(float (&c)[3][8][4], const float4 *a, const float4 *w) {
#pragma unroll 1
	for (const float4 *last = w + TILE * (COLUMNS / 4); w != last; w += COLUMNS / 4, a += ROWS / 4 + 1) {
		float4 low = a[0], high = a[1];
		float x[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
		for (int s = 0; s < scalers; s++) {
			float4 ys = w[s * LANES];
			float y[4] = {ys.x, ys.y, ys.z, ys.w};
#pragma unroll
			for (int i = 0; i < 8; i++)
#pragma unroll
				for (int j = 0; j < 4; j++) c[s][i][j] = fmaf(x[i], y[j], c[s][i][j]);
		}
	}
}

// Twelve warps fill a multiprocessor's registers, with 128 dimensions eight. While a block computes on a tile it reads the next one.
SHARING(THREADS, PER == 4 ? 1 : 6 / PER) update(const Batch *p, int t) {
	__shared__ float4 a[2][TILE][ROWS / 4 + 1]; // by feature: 64 rows
	__shared__ float4 w[2][TILE][COLUMNS / 4];
	__shared__ Target targets[ROWS];
	int begin = first_row(p, t), end = end_row(p, t), thread = threadIdx.x, part = thread % LANES, eight = thread / LANES;
	const float *maps = p->maps + (long long)(t - 1) * WIDTH * COLUMNS;
	const float *layer = p->parameters + (long long)(t - 1) * p->layer_size;
	int four = thread % (TILE / 4), column = thread / (TILE / 4); // of the features that the thread copies
	for (int first = begin + blockIdx.x * ROWS; first < end; first += gridDim.x * ROWS) {
		const float *features = p->features + feature_row(p, t, first) * WIDTH;
		int last = min(ROWS, end - first) - 1; // rows behind it are computed as it is, and not written
		int from[READ];
		float4 xs[READ], ys[MAPPED];
		auto read = [&](int k) {
#pragma unroll
			for (int i = 0; i < READ; i++)
				if (ALL_READ || column < ROWS) xs[i] = at4(features, from[i] + k / 4);
#pragma unroll
			for (int i = 0; i < MAPPED; i++) ys[i] = at4(maps, k * COLUMNS / 4 + thread + i * THREADS);
		};
		auto keep = [&](int b) {
#pragma unroll
			for (int i = 0; i < READ; i++) {
				if (!ALL_READ && column >= ROWS) continue;
				float *to = (float *)&a[b][4 * four][0] + column + i * (4 * THREADS / TILE);
				to[0] = xs[i].x;
				to[ROWS + 4] = xs[i].y;
				to[2 * (ROWS + 4)] = xs[i].z;
				to[3 * (ROWS + 4)] = xs[i].w;
			}
#pragma unroll
			for (int i = 0; i < MAPPED; i++) (&w[b][0][0])[thread + i * THREADS] = ys[i];
		};
#pragma unroll
		for (int i = 0; i < READ; i++) from[i] = min(column + i * (4 * THREADS / TILE), last) * (WIDTH / 4) + four;
		read(0);
		int row = first + min(thread, last);
		Row r = p->rows[row];
		unsigned masks[PER];
#pragma unroll
		for (int j = 0; j < PER; j++) masks[j] = p->training && p->threshold ? p->masks[row * PER + j] : ALL;
		float c[3][8][4];
#pragma unroll
		for (int s = 0; s < 3; s++)
#pragma unroll
			for (int i = 0; i < 8; i++)
#pragma unroll
				for (int j = 0; j < 4; j++) c[s][i][j] = 0;
		keep(0);
		__syncthreads();
		// The own state has the first scaler alone.
		Scale scale = p->scales[r.degree];
#pragma unroll 1
		for (int k = 0; k < DIM; k += TILE) {
			int b = k / TILE % 2;
			read(k + TILE);
			multiply<1>(c, &a[b][0][2 * eight], &w[b][0][part]);
			keep(1 - b);
			if (k == 0 && thread < ROWS) {
				targets[thread].up = scale.up;
				targets[thread].down = scale.down;
				targets[thread].state = ((t - r.distance) * p->batch + r.query) * p->entities + r.entity;
#pragma unroll
				for (int j = 0; j < PER; j++) targets[thread].masks[j] = masks[j];
			}
			__syncthreads();
		}
#pragma unroll 1
		for (int k = DIM; k < WIDTH; k += TILE) {
			int b = k / TILE % 2;
			bool more = k + TILE < WIDTH;
			if (more) read(k + TILE);
			multiply<3>(c, &a[b][0][2 * eight], &w[b][0][part]);
			if (more) keep(1 - b);
			__syncthreads();
		}
		float y[8][4], bias[4];
#pragma unroll
		for (int j = 0; j < 4; j++) bias[j] = p->bias ? layer[p->linear_bias_at + 4 * part + j] : 0.0f;
#pragma unroll
		for (int i = 0; i < 8; i++) {
			float up = targets[8 * eight + i].up, down = targets[8 * eight + i].down;
#pragma unroll
			for (int j = 0; j < 4; j++) y[i][j] = fmaf(c[2][i][j], down, fmaf(c[1][i][j], up, c[0][i][j])) + bias[j];
		}
		float4 own[8];
#pragma unroll
		for (int i = 0; i < 8; i++) own[i] = at4(features, min(8 * eight + i, last) * (WIDTH / 4) + part);
		float scales[4], shifts[4];
#pragma unroll
		for (int j = 0; j < 4; j++) {
			scales[j] = p->bias ? layer[p->scale_at + 4 * part + j] : 1.0f;
			shifts[j] = p->bias ? layer[p->shift_at + 4 * part + j] : 0.0f;
		}
		int live = p->live, training = p->training;
		float share = 1.0f / live, keep_scale = training ? p->keep_scale : 1.0f;
#pragma unroll
		for (int i = 0; i < 8; i++) {
			float mean = sum_dims((y[i][0] + y[i][1]) + (y[i][2] + y[i][3])) * share;
#pragma unroll
			for (int j = 0; j < 4; j++) y[i][j] = 4 * part + j < live ? y[i][j] - mean : 0.0f;
			float variance = sum_dims(fmaf(y[i][0], y[i][0], y[i][1] * y[i][1]) + fmaf(y[i][2], y[i][2], y[i][3] * y[i][3])) * share;
			float deviation = 1.0f / sqrtf(variance + 1e-5f);
			int row = first + 8 * eight + i;
			float before[4] = {own[i].x, own[i].y, own[i].z, own[i].w}, after[4];
			unsigned mask = targets[8 * eight + i].masks[part / 8] >> (part % 8 * 4);
#pragma unroll
			for (int j = 0; j < 4; j++) {
				y[i][j] *= deviation;
				float z = relu(fmaf(y[i][j], scales[j], shifts[j]));
				after[j] = before[j] + (mask >> j & 1 ? z * keep_scale : 0.0f);
			}
			if (row >= end) continue; // the lanes of a row agree, but those of a warp need not
			if (training) {
				put4(p->normalized, (long long)row * LANES + part, make_float4(y[i][0], y[i][1], y[i][2], y[i][3]));
				if (part == 0) p->deviations[row] = deviation;
			}
			put4(p->states, (long long)targets[8 * eight + i].state * LANES + part, make_float4(after[0], after[1], after[2], after[3]));
		}
	}
}

// The states of age 0 of the sources are the queries' embeddings. A warp a query.
KERNEL(32) start_states(const Batch *p) {
	int b = blockIdx.x;
	if (threadIdx.x < LANES)
		put4(p->states, ((long long)b * p->entities + p->queries[b].source) * LANES + threadIdx.x, at4(query_embedding(p, b), threadIdx.x));
}
