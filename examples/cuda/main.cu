// Transforms a picture by the 5/3 wavelet of JPEG 2000, five levels, and back: on a stream, and in a graph.
//     picture [FILE.pgm]      8-bit binary PGM (P5); without a file a picture is synthesised

#include "legall53.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include <vector>

#define CUDA(call)                                                                                \
    do {                                                                                          \
        const cudaError_t error_ = (call);                                                        \
        if (error_ != cudaSuccess) {                                                              \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_));       \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

#define LIFT(call)                                                                                \
    do {                                                                                          \
        const int code_ = (call);                                                                 \
        if (code_ != LEGALL53_OK) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, legall53_message(code_));          \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

struct Picture {
    int width, height;
    std::vector<int16_t> samples;
};

static Picture made_up()
{
    Picture p = {1920, 1080, std::vector<int16_t>(1920 * 1080)};
    for (int y = 0; y < p.height; ++y) {
        for (int x = 0; x < p.width; ++x) p.samples[(size_t)y * p.width + x] = (int16_t)((x * x / 64 + y * 3) % 256);
    }
    return p;
}

static Picture read(const char *name)
{
    Picture p = {0, 0, {}};
    int most = 0;
    FILE *const file = fopen(name, "rb");
    if (file == NULL || fscanf(file, "P5 %d %d %d", &p.width, &p.height, &most) != 3 || most > 255 || p.width < 1 ||
        p.height < 1 || p.width > 65536 || p.height > 65536) {
        fprintf(stderr, "%s: not an 8-bit PGM (P5, no comments)\n", name);
        exit(1);
    }
    fgetc(file);
    std::vector<unsigned char> bytes((size_t)p.width * p.height);
    if (fread(bytes.data(), 1, bytes.size(), file) != bytes.size()) {
        fprintf(stderr, "%s: the file is truncated\n", name);
        exit(1);
    }
    fclose(file);
    p.samples.assign(bytes.begin(), bytes.end());
    return p;
}

int main(int argc, char **argv)
{
    const Picture picture = argc > 1 ? read(argv[1]) : made_up();
    const size_t bytes = picture.samples.size() * sizeof(int16_t);
    const legall53_shape shape = legall53_image(picture.width, picture.height, 5);

    int16_t *signal, *bands;
    void *scratch;
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMalloc((void **)&signal, bytes));
    CUDA(cudaMalloc((void **)&bands, bytes));
    CUDA(cudaMalloc(&scratch, legall53_cuda_scratch_bytes_i16(&shape) + 1));

    // On a stream: enqueued in order, synchronised once.
    std::vector<int16_t> coefficients(picture.samples.size()), back(picture.samples.size());
    CUDA(cudaMemcpyAsync(signal, picture.samples.data(), bytes, cudaMemcpyHostToDevice, stream));
    LIFT(legall53_cuda_forward_i16(&shape, signal, bands, scratch, stream));
    CUDA(cudaMemcpyAsync(coefficients.data(), bands, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaMemsetAsync(signal, 0, bytes, stream));
    LIFT(legall53_cuda_inverse_i16(&shape, bands, signal, scratch, stream));
    CUDA(cudaMemcpyAsync(back.data(), signal, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    size_t zeros = 0;
    for (const int16_t c : coefficients) zeros += c == 0;
    const double part = 100.0 * (double)zeros / (double)coefficients.size();
    printf("%d x %d: %.1f %% of the coefficients are 0\n", picture.width, picture.height, part);
    printf("on a stream: %s\n", back == picture.samples ? "every sample is restored" : "SAMPLES DIFFER");
    int failed = back != picture.samples;

    // In a graph: recorded once, launched once per picture.
    cudaGraph_t graph;
    cudaGraphExec_t recorded;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    LIFT(legall53_cuda_forward_i16(&shape, signal, bands, scratch, stream));
    LIFT(legall53_cuda_inverse_i16(&shape, bands, signal, scratch, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiateWithFlags(&recorded, graph, 0));
    const int times = 100;
    cudaEvent_t begin, end;
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    CUDA(cudaGraphLaunch(recorded, stream));
    CUDA(cudaEventRecord(begin, stream));
    for (int i = 0; i < times; ++i) CUDA(cudaGraphLaunch(recorded, stream));
    CUDA(cudaEventRecord(end, stream));
    CUDA(cudaMemcpyAsync(back.data(), signal, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    float milliseconds = 0;
    CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
    printf("in a graph: %s; %.1f us per round trip\n",
           back == picture.samples ? "every sample is restored" : "SAMPLES DIFFER", milliseconds * 1000 / times);
    failed |= back != picture.samples;

    CUDA(cudaGraphExecDestroy(recorded));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaFree(signal));
    CUDA(cudaFree(bands));
    CUDA(cudaFree(scratch));
    CUDA(cudaStreamDestroy(stream));
    return failed;
}
