// Gradients of the features of rows, and through them of the members of the sets that these reduce.
#include "model.cuh"

#define ROWS (DIM > 64 ? 32 : 64) // of a strip that a block of feature_gradients takes, as shared memory allows; a thread computes 4 by 4 dimensions of each kind of features
#define TILE (ROWS / 8)           // outputs at a time
#define THREADS (ROWS / 4 * LANES)

// Terms determine the gradient of a member x of a receiver's set in one dimension: base + slope x, and up or down for the
// first that attains the maximum or the minimum.
struct Terms {
	float base, slope, most, least, up, down;
};

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

// others stores the gradients of the members of a set that are no messages: the boundary at the source, and the copies of the degree
// message.
DEVICE void others(const Batch *p, Terms s, const Row &row, int copies, int t, int number, int dim) {
	float gradient = member(s, row.flags & SOURCE ? query_embedding(p, row.query)[dim] : 0.0f);
	if (row.flags & SOURCE) p->boundary[((long long)row.query * (p->layers + 1) + t) * DIM + dim] = gradient;
	if (!p->degree_messages) return;
	float x = p->parameters[(long long)(t - 1) * p->layer_size + p->degree_at + dim];
	gradient = 0;
	if (copies > 0) {
		gradient = fmaf(s.slope, x, s.base) * (copies - 1);
		gradient += member(s, x);
	}
	p->degree_gradients[(long long)number * DIM + dim] = gradient;
}

// unless returns the gradients of extremes that no edge attains, 0 for others.
DEVICE float4 unless(int4 edges, float4 g) {
	return make_float4(edges.x < 0 ? g.x : 0.0f, edges.y < 0 ? g.y : 0.0f, edges.z < 0 ? g.z : 0.0f, edges.w < 0 ? g.w : 0.0f);
}

// slope_of is what a member's gradient gets for each unit of the member, through the deviation.
DEVICE float slope_of(float gradient, float divisor, float deviation) { return deviation > 1e-3f ? gradient * divisor / deviation : 0.0f; }

// replace makes of the gradients of the reductions of row `number` of layer t, in four dimensions, what determines those of its messages:
// base, up, down and slope, or one of them. It stores what the other members of its set get. g[0] is that of the own state.
template <int kinds>
DEVICE void replace(const Batch *p, int t, int number, float4 (&g)[kinds]) {
	int part = threadIdx.x % LANES;
	long long i = first_row(p, t) + number;
	Row row = p->rows[i];
	float divisor = p->scales[row.degree].divisor;
	const float *features = p->features + i * p->width;
	if constexpr (kinds == 5) {
		float4 mean = at4(features, LANES + part), deviation = at4(features, 4 * LANES + part), by = g[4], base = scale4(g[1], divisor);
		float4 slope = make_float4(slope_of(by.x, divisor, deviation.x), slope_of(by.y, divisor, deviation.y), slope_of(by.z, divisor, deviation.z),
		                           slope_of(by.w, divisor, deviation.w));
		g[1] = fma4(make_float4(-slope.x, -slope.y, -slope.z, -slope.w), mean, base);
		g[4] = slope;
	} else if (p->reduction == MEAN) {
		g[1] = scale4(g[1], divisor);
	}
	if (!(row.flags & SOURCE) && !p->degree_messages) return; // there are no others that want gradients
	int copies = p->degree_messages ? row.degree - p->row_admitted[i] : 0;
	bool extremes = has_extremes(p);
	float4 zero = zero4(), base = p->reduction == MAX ? zero : g[1], slope = zero, most = zero, least = zero, up = zero, down = zero;
	if (extremes) { // of those that no message attains
		const int4 *attained = (const int4 *)p->attained + i * 2 * LANES + part;
		int4 highest = attained[0], lowest = attained[LANES];
		most = at4(features, (kinds == 5 ? 2 : 1) * LANES + part);
		up = unless(highest, g[kinds == 5 ? 2 : 1]);
		if constexpr (kinds == 5) {
			least = at4(features, 3 * LANES + part);
			down = unless(lowest, g[3]);
			slope = g[4];
		}
	}
	others(p, {base.x, slope.x, most.x, least.x, up.x, down.x}, row, copies, t, number, 4 * part);
	others(p, {base.y, slope.y, most.y, least.y, up.y, down.y}, row, copies, t, number, 4 * part + 1);
	others(p, {base.z, slope.z, most.z, least.z, up.z, down.z}, row, copies, t, number, 4 * part + 2);
	others(p, {base.w, slope.w, most.w, least.w, up.w, down.w}, row, copies, t, number, 4 * part + 3);
}

// multiply adds the products of a tile of outputs for features of a number of kinds. a and w are at the thread's rows and dimensions.
template <int kinds>
DEVICE void multiply(float (&c)[5][4][4], const float4 *a, const float4 *w) {
#pragma unroll 1
	for (int n = 0; n < TILE; n++, a += ROWS / 4 + 1, w += kinds * LANES) {
		float4 xs = a[0];
		float x[4] = {xs.x, xs.y, xs.z, xs.w};
#pragma unroll
		for (int k = 0; k < kinds; k++) {
			float4 ys = w[k * LANES];
			float y[4] = {ys.x, ys.y, ys.z, ys.w};
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int j = 0; j < 4; j++) c[k][i][j] = fmaf(x[i], y[j], c[k][i][j]);
		}
	}
}

// Gradients of a layer's features: [n, DIM] x [DIM, width], and what determines those of its messages. While a block computes on a tile of
// weights it reads the next one, and folds the scalers into it.
template <int kinds>
DEVICE void gradients_of(const Batch *p, int t, const int *rows, float4 (&a)[DIM][ROWS / 4 + 1], float4 (&w)[2][TILE * 5 * LANES]) {
	constexpr int width = kinds * DIM, size = TILE * width / 4, each = (size + THREADS - 1) / THREADS;
	int begin = first_row(p, t), thread = threadIdx.x, part = thread % LANES, four = thread / LANES;
	int one = rows[0]; // stands for those that are missing
	if (one == 0) return;
	Scale scale = p->scales[p->row_degree[begin + one - 1]];
	const float *maps = p->transposed + (long long)(t - 1) * width * p->columns;
	float4 ys[each][3];
	auto read = [&](int tile) {
#pragma unroll
		for (int i = 0; i < each; i++)
			if (size % THREADS == 0 || thread + i * THREADS < size)
#pragma unroll
				for (int s = 0; s < (kinds == 5 ? 3 : 1); s++) ys[i][s] = at4(maps, (s * DIM / TILE + tile) * size + thread + i * THREADS);
	};
	auto keep = [&](int b) {
#pragma unroll
		for (int i = 0; i < each; i++)
			if (size % THREADS == 0 || thread + i * THREADS < size) w[b][thread + i * THREADS] = kinds == 5 ? fold(ys[i], scale) : ys[i][0];
	};
	read(0);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		int r = thread % (ROWS / 4) + ROWS / 4 * i, o = thread / (ROWS / 4), row = rows[r];
		float4 x = at4(p->linear, (long long)(begin + (row ? row : one) - 1) * LANES + o);
		float *to = (float *)&a[4 * o][0] + r;
		to[0] = x.x;
		to[ROWS + 4] = x.y;
		to[2 * (ROWS + 4)] = x.z;
		to[3 * (ROWS + 4)] = x.w;
	}
	keep(0);
	bool some = rows[4 * four] != 0; // of the thread's rows are there
	float c[5][4][4];
#pragma unroll
	for (int k = 0; k < kinds; k++)
#pragma unroll
		for (int i = 0; i < 4; i++)
#pragma unroll
			for (int j = 0; j < 4; j++) c[k][i][j] = 0;
	__syncthreads();
#pragma unroll 1
	for (int tile = 0; tile < DIM / TILE; tile++) {
		int b = tile % 2;
		bool more = tile + 1 < DIM / TILE;
		if (more) read(tile + 1);
		if (some) multiply<kinds>(c, &a[tile * TILE][four], &w[b][part]);
		if (more) keep(1 - b);
		__syncthreads();
	}
#pragma unroll
	for (int i = 0; i < 4; i++) {
		int number = rows[4 * four + i] - 1;
		if (number < 0) continue;
		float4 g[kinds];
#pragma unroll
		for (int k = 0; k < kinds; k++) g[k] = make_float4(c[k][i][0], c[k][i][1], c[k][i][2], c[k][i][3]);
		replace<kinds>(p, t, number, g);
		float *out = p->feature_gradients + (long long)number * width;
#pragma unroll
		for (int k = 0; k < kinds; k++) put4(out, k * LANES + part, g[k]);
	}
	__syncwarp();
}

SHARING(THREADS, PER == 1 ? 3 : 1) feature_gradients(const Batch *p, int t) {
	__shared__ float4 a[DIM][ROWS / 4 + 1]; // by output: rows
	__shared__ float4 w[2][TILE * 5 * LANES];
	int count = strip_count(p, t) * (STRIP / ROWS);
	for (int i = blockIdx.x; i < count; i += gridDim.x) {
		const int *rows = strip_rows(p, t, 0) + i * ROWS;
		if (p->reduction == PNA) gradients_of<5>(p, t, rows, a, w);
		else gradients_of<2>(p, t, rows, a, w);
	}
}
