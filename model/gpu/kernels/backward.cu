// The backward pass of a layer: which messages attain extremes, and the sums of the gradients of relations.
#include "model.cuh"

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

// read_attained reads which edges attain the extremes of row i.
DEVICE void read_attained(const Batch *p, int i, int *highest, int *lowest) {
	const int *attained = p->attained + (long long)i * 2 * DIM + threadIdx.x % 32;
#pragma unroll
	for (int j = 0; j < PER; j++) {
		highest[j] = attained[32 * j];
		lowest[j] = attained[DIM + 32 * j];
	}
}

// Which messages of layer t attain extremes, by edge. The first blocks take heavy entities, whose edges their warps share, the others
// light ones, a warp each.
SHARING(32 * HEAVY_WARPS, 1) message_extremes(const Batch *p, int t, int heavy) {
	int warp = threadIdx.x / 32, highest[PER], lowest[PER];
	if (blockIdx.x >= heavy) {
		int end = end_row(p, t), warps = (gridDim.x - heavy) * HEAVY_WARPS;
		for (int i = light_row(p, t) + (blockIdx.x - heavy) * HEAVY_WARPS + warp; i < end; i += warps) {
			Row row = p->rows[i];
			read_attained(p, i, highest, lowest);
			note_extremes(p, row, highest, lowest, row.begin, row.end);
		}
		return;
	}
	int end = light_row(p, t);
	for (int i = first_row(p, t) + blockIdx.x; i < end; i += heavy) {
		Row row = p->rows[i];
		read_attained(p, i, highest, lowest);
		note_extremes(p, row, highest, lowest, share_begin(row, warp), share_begin(row, warp + 1));
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
		if (lane < LANES) put4(p->relation_partials, ((long long)(t - 1) * p->batch * p->pieces + i) * LANES + part, sum);
	}
}

// The sums of the relations' pieces, of all layers. A warp a relation of a layer and query.
KERNEL(256) relation_sum(const Batch *p) {
	int lane = threadIdx.x % 32, count = p->batch * p->layers * p->relation_count;
	for (int i = blockIdx.x * 8 + threadIdx.x / 32; i < count; i += gridDim.x * 8) {
		int r = i % p->relation_count, t = i / p->relation_count % p->layers, b = i / p->relation_count / p->layers;
		const float *partials = p->relation_partials + ((long long)t * p->batch + b) * p->pieces * DIM;
		for (int j = lane; j < DIM; j += 32) {
			float sum = 0;
			for (int piece = p->relation_pieces[r]; piece < p->relation_pieces[r + 1]; piece++) sum += partials[(long long)piece * DIM + j];
			p->relation_gradients[(long long)i * DIM + j] = sum;
		}
	}
}
