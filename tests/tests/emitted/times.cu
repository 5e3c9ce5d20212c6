// Times the functions of an emitted CUDA file as multiples of a copy, and compares their results with the emitted C.
// The command line defines WAVELET, SUFFIX, SAMPLE and CASES, a file of calls, and ONE if these are functions for one
// shape; it includes the emitted header. A time is the median of many replays of a graph of calls on alternating
// arrays. Calls are captured in one graph, or are separate graphs, each of which starts after the previous one has
// ended. Transforms of more than TIMES_CHECKED samples, if set, are not compared.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

typedef PASTE(WAVELET, _shape) Shape;

// The call under test.
#ifdef ONE
#define TRANSFORM(way, from, to) c.way(from, to, scratch, stream)
#define SCRATCH_BYTES c.scratch()
#else
#define TRANSFORM(way, from, to) PASTE(PASTE(WAVELET, _cuda_##way##_), SUFFIX)(&shape, from, to, scratch, stream)
#define SCRATCH_BYTES PASTE(PASTE(WAVELET, _cuda_scratch_bytes_), SUFFIX)(&shape)
#endif

struct Case {
    const char *name;
    int axes;
    int64_t size[3];
    int levels[3];
    int64_t apart; // samples by which rows are further apart
    int (*forward)(const SAMPLE *, SAMPLE *, void *, void *); // for this shape
    int (*inverse)(const SAMPLE *, SAMPLE *, void *, void *);
    size_t (*scratch)(void);
};

static const Case cases[] = {
#include CASES
};

static void must(bool ok, const char *what)
{
    if (ok) return;
    std::fprintf(stderr, "times: %s (%s)\n", what, cudaGetErrorString(cudaGetLastError()));
    std::exit(2);
}

template <class X> static X *device(size_t n)
{
    X *p = nullptr;
    must(cudaMalloc((void **)&p, n * sizeof(X)) == cudaSuccess, "out of device memory");
    must(cudaMemset(p, 0x66, n * sizeof(X)) == cudaSuccess, "memset");
    return p;
}

__global__ void copy(const uint4 *from, uint4 *to, size_t vectors)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < vectors) to[i] = from[i];
}

static cudaStream_t stream;

// A graph of the operations that `call(i)` queues, for i below `count`.
template <class Call> static cudaGraphExec_t graph_of(int count, bool own, const Call &call)
{
    cudaGraph_t whole;
    cudaGraphExec_t made;
    if (own) {
        must(cudaGraphCreate(&whole, 0) == cudaSuccess, "graph");
        cudaGraphNode_t last = nullptr;
        for (int i = 0; i < count; ++i) {
            cudaGraph_t part;
            must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess, "capture");
            call(i);
            must(cudaStreamEndCapture(stream, &part) == cudaSuccess, "capture");
            cudaGraphNode_t node;
            must(cudaGraphAddChildGraphNode(&node, whole, &last, i > 0, part) == cudaSuccess, "child");
            cudaGraphDestroy(part);
            last = node;
        }
    } else {
        must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess, "capture");
        for (int i = 0; i < count; ++i) call(i);
        must(cudaStreamEndCapture(stream, &whole) == cudaSuccess, "capture");
    }
    must(cudaGraphInstantiateWithFlags(&made, whole, 0) == cudaSuccess, "instantiate");
    cudaGraphDestroy(whole);
    return made;
}

// Microseconds per replay.
static double replay(cudaGraphExec_t graph, int times)
{
    cudaEvent_t begin, end;
    float ms = 0;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin, stream);
    for (int i = 0; i < times; ++i) must(cudaGraphLaunch(graph, stream) == cudaSuccess, "launch");
    cudaEventRecord(end, stream);
    must(cudaStreamSynchronize(stream) == cudaSuccess, "run");
    cudaEventElapsedTime(&ms, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return ms * 1e3 / times;
}

static bool same(const SAMPLE *found, const SAMPLE *expected, size_t n)
{
    return std::memcmp(found, expected, n * sizeof(SAMPLE)) == 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    must(cudaStreamCreate(&stream) == cudaSuccess, "stream");
    for (const Case &c : cases) {
        if (argc > 1 && std::strstr(c.name, argv[1]) == nullptr) continue;
        Shape shape;
        std::memset(&shape, 0, sizeof shape);
        shape.axes = c.axes;
        int64_t pitch = 1, samples = 1;
        for (int a = c.axes - 1; a >= 0; --a) {
            shape.size[a] = c.size[a];
            shape.levels[a] = c.levels[a];
            shape.order[a] = c.axes - 1 - a;
            shape.signal_stride[a] = shape.bands_stride[a] = pitch;
            pitch *= c.size[a] + (a == c.axes - 1 ? c.apart : 0);
            samples *= c.size[a];
        }
        const size_t n = (size_t)pitch, bytes = n * sizeof(SAMPLE);
        const int sets = (int)std::min<size_t>(64, std::max<size_t>(2, ((size_t)480 << 20) / (2 * bytes) + 1));
        const int count = (std::max(16, sets) + sets - 1) / sets * sets;
        std::vector<SAMPLE> signal(n), bands(n), back(n), found(n);
        uint64_t state = 1;
        for (SAMPLE &s : signal) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            s = (SAMPLE)((int)(state >> 54) - 512);
        }
        char *const scratch = device<char>(SCRATCH_BYTES + 1);
        std::vector<SAMPLE *> d_signal, d_bands, d_back;
        for (int i = 0; i < sets; ++i) {
            d_signal.push_back(device<SAMPLE>(n));
            d_bands.push_back(device<SAMPLE>(n));
            d_back.push_back(device<SAMPLE>(n));
            must(cudaMemcpy(d_signal[i], signal.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess, "copy");
        }
        const auto forward = [&](int i) {
            const SAMPLE *from = d_signal[i % sets];
            SAMPLE *to = d_bands[i % sets];
            must(TRANSFORM(forward, from, to) == 0, "forward");
        };
        const auto inverse = [&](int i) {
            const SAMPLE *from = d_bands[i % sets];
            SAMPLE *to = d_back[i % sets];
            must(TRANSFORM(inverse, from, to) == 0, "inverse");
        };
        const size_t vectors = (size_t)samples * sizeof(SAMPLE) / 16;
        const auto copied = [&](int i) {
            copy<<<(unsigned)((vectors + 255) / 256), 256, 0, stream>>>(
                (const uint4 *)d_signal[i % sets], (uint4 *)d_back[i % sets], vectors);
        };
        cudaGraphExec_t graphs[] = {
            graph_of(count, false, copied), graph_of(count, false, forward), graph_of(count, false, inverse),
            graph_of(count, true, forward), graph_of(count, true, inverse)
        };
        std::vector<double> times[5];
        int replays[5];
        for (int g = 0; g < 5; ++g) {
            replay(graphs[g], 1);
            replays[g] = (int)std::min(200.0, std::max(1.0, 4000.0 / replay(graphs[g], 1)));
        }
        for (int round = 0; round < 9; ++round) {
            for (int g = 0; g < 5; ++g) times[g].push_back(replay(graphs[g], replays[g]) / count);
        }
        for (auto &t : times) std::sort(t.begin(), t.end());
        const double unit = times[0][4];
        // Compare the timed results: the last call of each kind, on data from the same calls.
        const char *const most = std::getenv("TIMES_CHECKED");
        const bool checked = most == nullptr || samples <= std::atoll(most);
        std::vector<char> spare(PASTE(PASTE(WAVELET, _scratch_bytes_), SUFFIX)(&shape) + 1);
        std::memset(bands.data(), 0x66, bytes);
        std::memset(back.data(), 0x66, bytes);
        if (checked) {
            const auto in_c = [&](auto transform, const SAMPLE *from, SAMPLE *to) {
                return transform(&shape, from, to, spare.data());
            };
            const int there = in_c(PASTE(PASTE(WAVELET, _forward_), SUFFIX), signal.data(), bands.data());
            const int again = in_c(PASTE(PASTE(WAVELET, _inverse_), SUFFIX), bands.data(), back.data());
            must(there == 0 && again == 0, "the functions in C");
        }
        const size_t row = (size_t)c.size[c.axes - 1], step = row + (size_t)c.apart;
        int wrong = 0;
        for (int way = 0; way < 2 && checked; ++way) {
            const SAMPLE *const from = way ? d_back[sets - 1] : d_bands[sets - 1];
            must(cudaMemset(d_back[sets - 1], 0x66, bytes) == cudaSuccess, "memset");
            if (way) must(cudaGraphLaunch(graphs[2], stream) == cudaSuccess, "launch");
            must(cudaStreamSynchronize(stream) == cudaSuccess, "run");
            must(cudaMemcpy(found.data(), from, bytes, cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
            const std::vector<SAMPLE> &expected = way ? back : bands;
            for (size_t at = 0; at < n; at += step) wrong |= !same(&found[at], &expected[at], row) << way;
        }
        failed |= wrong;
        std::printf(
            "%-26s %8.2f us; %6.2f %6.2f; apart %6.2f %6.2f%s\n", c.name, unit, times[1][4] / unit, times[2][4] / unit,
            times[3][4] / unit, times[4][4] / unit, wrong ? "  DIFFERS FROM C" : checked ? "" : "  not compared"
        );
        std::fflush(stdout);
        for (cudaGraphExec_t g : graphs) cudaGraphExecDestroy(g);
        for (int i = 0; i < sets; ++i) cudaFree(d_signal[i]), cudaFree(d_bands[i]), cudaFree(d_back[i]);
        cudaFree(scratch);
    }
    return failed;
}
