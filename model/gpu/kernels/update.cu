// The node update: [n, width] x [width, DIM], layer norm, ReLU, dropout and the residual.
#include "model.cuh"

#define TILE 8 // features at a time
#define THREADS (TILE * LANES) // of a block, which takes a strip; a thread computes 8 rows by 4 outputs
#define READ ((STRIP * TILE / 4 + THREADS - 1) / THREADS) // features that a thread copies, four at a time

// Target is what the end of an update needs to know of a row.
struct Target {
	int row;   // in the layer, or -1
	int state; // index of the state that the update writes
	unsigned masks[PER];
};

// multiply adds the products of a tile of features. a and w are at the thread's rows and outputs.
DEVICE void multiply(float (&c)[8][4], const float4 *a, const float4 *w) {
#pragma unroll 1
	for (int k = 0; k < TILE; k++, a += STRIP / 4 + 1, w += LANES) {
		float4 low = a[0], high = a[1], ys = w[0];
		float x[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}, y[4] = {ys.x, ys.y, ys.z, ys.w};
#pragma unroll
		for (int i = 0; i < 8; i++)
#pragma unroll
			for (int j = 0; j < 4; j++) c[i][j] = fmaf(x[i], y[j], c[i][j]);
	}
}

// While a block computes on a tile it reads the next one, and folds the scalers into its weights.
SHARING(THREADS, 10 / PER) update(const Batch *p, int t) {
	__shared__ float4 a[2][TILE][STRIP / 4 + 1]; // by feature: 64 rows
	__shared__ float4 w[2][TILE][LANES];
	__shared__ Target targets[STRIP];
	int begin = first_row(p, t), strips = strip_count(p, t), thread = threadIdx.x, part = thread % LANES, eight = thread / LANES;
	int width = p->width, columns = p->columns;
	const float *all = p->features + feature_row(p, t, begin) * width;
	const float *maps = p->maps + (long long)(t - 1) * width * columns + eight * columns; // of the feature whose weights the thread copies
	const float *layer = p->parameters + (long long)(t - 1) * p->layer_size;
	int four = thread % (TILE / 4), column = thread / (TILE / 4); // of the features that the thread copies
	for (int strip = blockIdx.x; strip < strips; strip += gridDim.x) {
		const int *rows = strip_rows(p, t, strip);
		int one = rows[0]; // stands for those that are missing
		if (one == 0) continue;
		const float *features[READ];
		bool reads = READ * THREADS * 4 == STRIP * TILE || column < STRIP;
#pragma unroll
		for (int i = 0; i < READ; i++) {
			int row = reads ? rows[column + i * (4 * THREADS / TILE)] : one;
			features[i] = all + (long long)((row ? row : one) - 1) * width;
		}
		float4 xs[READ], ys[3];
		auto read = [&](int k) {
#pragma unroll
			for (int i = 0; i < READ; i++) xs[i] = at4(features[i], k / 4 + four);
#pragma unroll
			for (int s = 0; s < 3; s++)
				if (s * DIM < columns) ys[s] = at4(maps, k * columns / 4 + s * LANES + part);
		};
		Scale scale = p->scales[p->row_degree[begin + one - 1]];
		auto keep = [&](int b) {
#pragma unroll
			for (int i = 0; i < READ && reads; i++) {
				float *to = (float *)&a[b][4 * four][0] + column + i * (4 * THREADS / TILE);
				to[0] = xs[i].x;
				to[STRIP + 4] = xs[i].y;
				to[2 * (STRIP + 4)] = xs[i].z;
				to[3 * (STRIP + 4)] = xs[i].w;
			}
			w[b][eight][part] = columns == DIM ? ys[0] : fold(ys, scale);
		};
		read(0);
		if (thread < STRIP) {
			Target target = {rows[thread] - 1};
			Row row = p->rows[begin + max(target.row, 0)];
			target.state = ((t - row.distance) * p->batch + row.query) * p->entities + row.entity;
#pragma unroll
			for (int j = 0; j < PER; j++) target.masks[j] = p->training && p->threshold ? p->masks[(begin + max(target.row, 0)) * PER + j] : ALL;
			targets[thread] = target;
		}
		bool some = rows[8 * eight] != 0; // of the thread's rows are there
		float c[8][4];
#pragma unroll
		for (int i = 0; i < 8; i++)
#pragma unroll
			for (int j = 0; j < 4; j++) c[i][j] = 0;
		keep(0);
		__syncthreads();
#pragma unroll 1
		for (int k = 0; k < width; k += TILE) {
			int b = k / TILE % 2;
			bool more = k + TILE < width;
			if (more) read(k + TILE);
			if (some) multiply(c, &a[b][0][2 * eight], &w[b][0][part]);
			if (more) keep(1 - b);
			__syncthreads();
		}
		float bias[4], scales[4], shifts[4];
#pragma unroll
		for (int j = 0; j < 4; j++) {
			bias[j] = p->bias ? layer[p->linear_bias_at + 4 * part + j] : 0.0f;
			scales[j] = p->bias ? layer[p->scale_at + 4 * part + j] : 1.0f;
			shifts[j] = p->bias ? layer[p->shift_at + 4 * part + j] : 0.0f;
		}
		int live = p->live, training = p->training;
		float share = 1.0f / live, keep_scale = training ? p->keep_scale : 1.0f;
#pragma unroll
		for (int i = 0; i < 8; i++) {
			const Target &target = targets[8 * eight + i];
			float4 own = at4(all + (long long)max(target.row, 0) * width, part);
			float y[4] = {c[i][0] + bias[0], c[i][1] + bias[1], c[i][2] + bias[2], c[i][3] + bias[3]};
			float mean = sum_dims((y[0] + y[1]) + (y[2] + y[3])) * share;
#pragma unroll
			for (int j = 0; j < 4; j++) y[j] = 4 * part + j < live ? y[j] - mean : 0.0f;
			float variance = sum_dims(fmaf(y[0], y[0], y[1] * y[1]) + fmaf(y[2], y[2], y[3] * y[3])) * share;
			float deviation = 1.0f / sqrtf(variance + 1e-5f);
			float before[4] = {own.x, own.y, own.z, own.w}, after[4];
			unsigned mask = target.masks[part / 8] >> (part % 8 * 4);
#pragma unroll
			for (int j = 0; j < 4; j++) {
				y[j] *= deviation;
				float z = relu(fmaf(y[j], scales[j], shifts[j]));
				after[j] = before[j] + (mask >> j & 1 ? z * keep_scale : 0.0f);
			}
			if (target.row < 0) continue; // the lanes of a row agree, but those of a warp need not
			if (training) {
				long long row = begin + target.row;
				put4(p->normalized, row * LANES + part, make_float4(y[0], y[1], y[2], y[3]));
				if (part == 0) p->deviations[row] = deviation;
			}
			put4(p->states, (long long)target.state * LANES + part, make_float4(after[0], after[1], after[2], after[3]));
		}
		__syncthreads(); // before the next strip's targets
	}
}

// The states of age 0 of the sources are the queries' embeddings. A warp a query.
KERNEL(32) start_states(const Batch *p) {
	int b = blockIdx.x;
	if (threadIdx.x < LANES)
		put4(p->states, ((long long)b * p->entities + p->queries[b].source) * LANES + threadIdx.x, at4(query_embedding(p, b), threadIdx.x));
}
