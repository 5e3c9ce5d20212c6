/* Mock of the CUDA runtime for emitted files, on a machine without one: launches are logged to the standard
   output. */
#ifndef MOCK_CUDA_RUNTIME_API_H
#define MOCK_CUDA_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

#define CUDART_VERSION MOCK_VERSION

typedef int cudaError_t;
enum { cudaSuccess = 0 };
typedef struct mock_stream *cudaStream_t;

struct dim3 {
    unsigned x, y, z;
    explicit dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

typedef struct {
    int ptxVersion, binaryVersion;
} cudaFuncAttributes;

enum cudaLaunchAttributeID { cudaLaunchAttributeClusterDimension, cudaLaunchAttributeProgrammaticStreamSerialization };
typedef struct {
    enum cudaLaunchAttributeID id;
    struct {
        struct {
            unsigned x, y, z;
        } clusterDim;
        int programmaticStreamSerializationAllowed;
    } val;
} cudaLaunchAttribute;

typedef struct {
    struct {
        unsigned x, y, z;
        void operator=(const dim3 &from) { x = from.x, y = from.y, z = from.z; }
    } gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
} cudaLaunchConfig_t;

/* Defined by the test: properties of the device, and the log of a launch. */
extern int mock_ptx, mock_binary;
cudaError_t mock_launch(const void *kernel, const unsigned *grid, const unsigned *block, void **arguments,
                        int overlaps, unsigned cluster);

inline cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *)
{
    attributes->ptxVersion = mock_ptx;
    attributes->binaryVersion = mock_binary;
    return cudaSuccess;
}

inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *kernel, void **arguments)
{
    const unsigned grid[3] = {c->gridDim.x, c->gridDim.y, c->gridDim.z};
    const unsigned block[3] = {c->blockDim.x, c->blockDim.y, c->blockDim.z};
    int overlaps = 0;
    unsigned cluster = 1;
    for (unsigned i = 0; i < c->numAttrs; ++i) {
        const cudaLaunchAttribute *a = &c->attrs[i];
        if (a->id == cudaLaunchAttributeProgrammaticStreamSerialization) {
            overlaps = a->val.programmaticStreamSerializationAllowed;
        } else {
            cluster = a->val.clusterDim.x;
        }
    }
    return mock_launch(kernel, grid, block, arguments, overlaps, cluster);
}

inline cudaError_t cudaLaunchKernel(const void *kernel, dim3 g, dim3 b, void **arguments, size_t, cudaStream_t)
{
    const unsigned grid[3] = {g.x, g.y, g.z}, block[3] = {b.x, b.y, b.z};
    return mock_launch(kernel, grid, block, arguments, 0, 1);
}

#if CUDART_VERSION >= 13000
typedef struct mock_node *cudaGraphNode_t;
typedef struct mock_graph *cudaGraph_t;
typedef struct {
    unsigned char from_port, to_port, type, reserved[5];
} cudaGraphEdgeData;
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
enum { cudaStreamAddCaptureDependencies, cudaStreamSetCaptureDependencies };

cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
    const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges, size_t *count);
cudaError_t cudaStreamUpdateCaptureDependencies(
    cudaStream_t stream, cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges, size_t count, unsigned flags);
#endif

enum cudaMemcpyKind { cudaMemcpyDeviceToDevice };
cudaError_t mock_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height);

inline cudaError_t cudaMemcpy2DAsync(
    void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind,
    cudaStream_t)
{
    return mock_copy(to, to_pitch, from, from_pitch, width, height);
}

inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind, cudaStream_t)
{
    return mock_copy(to, bytes, from, bytes, bytes, 1);
}

#endif
