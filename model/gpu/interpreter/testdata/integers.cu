// dims: none
// What the compiler makes of integer C: out[i] holds RESULTS words of thread i.
#define RESULTS 24

__constant__ unsigned table[8] = {3, 1, 4, 1, 5, 9, 2, 6};

extern "C" __global__ void __launch_bounds__(128) integers(int n, const int *x, const int *y, unsigned *out) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	int a = x[i], b = y[i];
	unsigned u = a, v = b;
	long long wide = (long long)a << 32 | v;
	unsigned *o = out + i * RESULTS;
	o[0] = a / (b | 1);
	o[1] = a % (b | 1);
	o[2] = u / (v | 1);
	o[3] = u % (v | 1);
	o[4] = __popc(u) | __clz(v) << 8 | __ffs(a) << 16 | __brev(v) << 24;
	o[5] = __byte_perm(u, v, 0x7305);
	o[6] = __funnelshift_l(u, v, b & 63) ^ __funnelshift_rc(u, v, a & 63);
	o[7] = __mulhi(a, b);
	o[8] = __umulhi(u, v);
	o[9] = __sad(a, b, u);
	long long q = wide / (a | 1);
	o[10] = (unsigned)q;
	o[11] = (unsigned)(q >> 32);
	unsigned long long r = (unsigned long long)wide % ((unsigned long long)v + 1);
	o[12] = (unsigned)r ^ (unsigned)(r >> 32);
	o[13] = (short)a * (short)b + (signed char)(a >> 3) - (unsigned char)b;
	o[14] = min(a, b) ^ max(u, v) + abs(a);
	o[15] = table[u & 7] + table[v >> 29];
	switch (u % 9) {
	case 0: o[16] = v + 1; break;
	case 1: o[16] = v * 3; break;
	case 2: o[16] = v ^ 5; break;
	case 3: o[16] = v >> 2; break;
	case 4: o[16] = v & 77; break;
	case 5: o[16] = v | 99; break;
	case 6: o[16] = ~v; break;
	case 7: o[16] = -v; break;
	default: o[16] = 7;
	}
	unsigned local[16];
	for (int j = 0; j < 16; j++) local[(j * 5 + a) & 15] = j * v;
	o[17] = local[u & 15] + local[v & 15] * 3;
	o[18] = (unsigned)((unsigned long long)u * v >> 17) + (unsigned)(((long long)a * b) >> 13);
	o[19] = (a < b && u > v) || (a == 0 && b != 3) ? a >> (v & 31) : u << (b & 31);
	o[20] = __vadd4(u, v);
	o[21] = (unsigned)__double2int_rz((double)a * 0.5) + (unsigned)(int)(float)b;
	o[22] = __uint_as_float(u) < __uint_as_float(v);
	int k = 0;
	for (unsigned z = u; z; z &= z - 1) k += __ffs(z);
	o[23] = k;
}
