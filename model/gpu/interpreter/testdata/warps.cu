// dims: none
// Exchanges in a warp, shared memory and atomics. Blocks have 64 threads.
extern "C" __global__ void __launch_bounds__(64) warps(const int *x, unsigned *out, unsigned *sum, unsigned long long *wide, unsigned char *bytes) {
	__shared__ unsigned exchange[64];
	__shared__ unsigned count, most;
	__shared__ unsigned char small[64];
	int i = blockIdx.x * 64 + threadIdx.x, lane = threadIdx.x & 31;
	int a = x[i];
	unsigned *o = out + i * 16;
	o[0] = __shfl_xor_sync(~0u, a, 5);
	o[1] = __shfl_down_sync(~0u, a, 3);
	o[2] = __shfl_up_sync(~0u, a, 7);
	o[3] = __shfl_sync(~0u, a, lane * 3 + 1);
	o[4] = __shfl_xor_sync(~0u, a, 2, 8) + __shfl_down_sync(~0u, a, 2, 16) + __shfl_sync(~0u, a, 3, 4);
	o[5] = __ballot_sync(~0u, a & 1);
	o[6] = __any_sync(~0u, a == 3) | __all_sync(~0u, a < 1 << 30) << 1;
	if (lane < 16) o[7] = __ballot_sync(0xffff, a & 2);
	else o[7] = __shfl_xor_sync(0xffff0000, a, 1);
	__syncwarp();
	o[8] = __match_any_sync(~0u, a & 3);
	o[9] = __reduce_add_sync(~0u, a) ^ __reduce_max_sync(~0u, a) ^ __reduce_or_sync(~0u, (unsigned)a);
	exchange[threadIdx.x] = a;
	__syncwarp();
	o[10] = exchange[threadIdx.x ^ 1];
	if (threadIdx.x == 0) count = most = 0;
	__syncthreads();
	atomicAdd(&count, a & 7);
	atomicMax(&most, a & 255);
	small[threadIdx.x] = a;
	exchange[threadIdx.x] = exchange[threadIdx.x] + 1;
	__syncthreads();
	o[11] = exchange[63 - threadIdx.x];
	o[12] = count;
	o[13] = most;
	o[14] = small[threadIdx.x ^ 33];
	o[15] = __activemask();
	atomicAdd(sum, a & 15);
	atomicXor(sum + 1, a);
	atomicAdd(wide, (unsigned long long)(unsigned)a);
	bytes[i] = a + 1;
}
