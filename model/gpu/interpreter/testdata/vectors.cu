// dims: none
// Accesses of 2 to 16 bytes.
extern "C" __global__ void __launch_bounds__(128) vectors(int n, const float4 *x, const short *narrow, const double *wide, float4 *out, uint2 *pairs, unsigned short *half) {
	__shared__ float4 shared[128];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	shared[threadIdx.x] = i < n ? x[i] : make_float4(0, 0, 0, 0);
	__syncthreads();
	float4 v = shared[blockDim.x - 1 - threadIdx.x];
	if (i >= n) return;
	double d = wide[i];
	out[i] = make_float4(v.w, v.x * 2, v.z + narrow[i], (float)d);
	pairs[i] = make_uint2((unsigned)__double_as_longlong(d), __float_as_uint(v.y));
	half[i] = (unsigned short)(narrow[i] >> 1);
}
