// Runs emitted CUDA transforms on the cases of a file, and compares bands and signal byte by byte.
// The command line defines WAVELET, SUFFIX, SAMPLE and BAD_SHAPE and includes the emitted header. A case has 35 64-bit
// integers (eight each of size, levels, origin and order, then axes, gain and row padding), the samples, and the
// expected bands and signal. First it checks that shapes without samples are refused.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

static void must(bool ok, const char *what)
{
    if (ok) return;
    std::fprintf(stderr, "driver: %s (%s)\n", what, cudaGetErrorString(cudaGetLastError()));
    std::exit(2);
}

template <class X> static X *device(size_t n)
{
    X *p = nullptr;
    must(cudaMalloc((void **)&p, n * sizeof(X) + 64) == cudaSuccess, "out of device memory");
    must(cudaMemset(p, 0x66, n * sizeof(X) + 64) == cudaSuccess, "memset");
    return p;
}

// Shapes with a side of zero samples are refused, with nothing written.
static void refuses_what_is_empty()
{
    const int sides[4][3] = {{0, 1, 1}, {0, 7, 1}, {5, 0, 1}, {3, 0, 4}}, axes[4] = {1, 2, 2, 3};
    SAMPLE *const from = device<SAMPLE>(64), *const to = device<SAMPLE>(64);
    for (int i = 0; i < 4; ++i) {
        PASTE(WAVELET, _shape) shape;
        std::memset(&shape, 0, sizeof shape);
        shape.axes = axes[i];
        int64_t stride = 1;
        for (int a = axes[i] - 1; a >= 0; --a) {
            shape.size[a] = sides[i][a];
            shape.levels[a] = 1;
            shape.order[a] = axes[i] - 1 - a;
            shape.signal_stride[a] = shape.bands_stride[a] = stride;
            stride *= sides[i][a] + 1;
        }
        const int there = PASTE(PASTE(WAVELET, _cuda_forward_), SUFFIX)(&shape, from, to, to, nullptr);
        const int back = PASTE(PASTE(WAVELET, _cuda_inverse_), SUFFIX)(&shape, from, to, to, nullptr);
        must(there == BAD_SHAPE && back == BAD_SHAPE, "accepted a shape without samples");
        must(PASTE(PASTE(WAVELET, _cuda_scratch_bytes_), SUFFIX)(&shape) == 0, "asked for scratch for a shape without samples");
    }
    std::vector<unsigned char> written(64 * sizeof(SAMPLE));
    must(cudaMemcpy(written.data(), to, written.size(), cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
    for (unsigned char byte : written) must(byte == 0x66, "wrote to arrays without samples");
    cudaFree(from);
    cudaFree(to);
}

int main(int, char **argv)
{
    refuses_what_is_empty();
    std::FILE *in = std::fopen(argv[1], "rb");
    must(in != nullptr, "cannot open the file of cases");
    int64_t head[35];
    long cases = 0, wrong = 0;
    while (std::fread(head, sizeof head, 1, in) == 1) {
        PASTE(WAVELET, _shape) shape;
        std::memset(&shape, 0, sizeof shape);
        shape.axes = (int)head[32];
        shape.gain = (int)head[33];
        int64_t samples = 1, outer = 1;
        for (int a = shape.axes - 1; a >= 0; --a) {
            shape.size[a] = head[a];
            shape.levels[a] = (int)head[8 + a];
            shape.origin[a] = head[16 + a];
            shape.order[a] = (int)head[24 + a];
            shape.signal_stride[a] = samples;
            shape.bands_stride[a] = outer;
            samples *= shape.size[a];
            outer *= shape.size[a] + (a == shape.axes - 1 ? head[34] : 0);
        }
        const size_t n = (size_t)samples, width = (size_t)shape.size[shape.axes - 1], pitch = width + (size_t)head[34];
        std::vector<SAMPLE> signal(n), bands(n), back(n), found(n), padded((size_t)outer);
        must(std::fread(signal.data(), sizeof(SAMPLE), n, in) == n, "short input");
        must(std::fread(bands.data(), sizeof(SAMPLE), n, in) == n, "short input");
        must(std::fread(back.data(), sizeof(SAMPLE), n, in) == n, "short input");
        SAMPLE *const d_signal = device<SAMPLE>(n), *const d_bands = device<SAMPLE>((size_t)outer);
        const size_t bytes = PASTE(PASTE(WAVELET, _cuda_scratch_bytes_), SUFFIX)(&shape);
        char *const scratch = device<char>(bytes);
        const auto forward = PASTE(PASTE(WAVELET, _cuda_forward_), SUFFIX);
        const auto inverse = PASTE(PASTE(WAVELET, _cuda_inverse_), SUFFIX);
        const size_t wide = sizeof(SAMPLE);
        must(cudaMemcpy(d_signal, signal.data(), n * wide, cudaMemcpyHostToDevice) == cudaSuccess, "copy");
        must(forward(&shape, d_signal, d_bands, scratch, nullptr) == 0, "forward");
        must(cudaMemcpy(padded.data(), d_bands, outer * wide, cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
        for (size_t i = 0; i < n; i += width) std::memcpy(&found[i], &padded[i / width * pitch], width * wide);
        bool ok = std::memcmp(found.data(), bands.data(), n * wide) == 0;
        must(cudaMemset(d_signal, 0x55, n * wide) == cudaSuccess, "memset");
        must(inverse(&shape, d_bands, d_signal, scratch, nullptr) == 0, "inverse");
        must(cudaMemcpy(found.data(), d_signal, n * wide, cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
        ok = ok && std::memcmp(found.data(), back.data(), n * wide) == 0;
        char guard[64];
        must(cudaMemcpy(guard, scratch + bytes, 64, cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
        for (char g : guard) must(g == 0x66, "wrote past the scratch memory");
        if (!ok && ++wrong <= 3) {
            std::printf("  differs: case %ld, axes %d, size", cases, shape.axes);
            for (int a = 0; a < shape.axes; ++a) {
                std::printf(" %lld (level %d)", (long long)shape.size[a], shape.levels[a]);
            }
            std::printf("\n");
        }
        ++cases;
        cudaFree(d_signal);
        cudaFree(d_bands);
        cudaFree(scratch);
    }
    std::printf("%s: %ld cases, %ld wrong\n", argv[1], cases, wrong);
    return wrong == 0 && cases > 0 ? 0 : 1;
}
