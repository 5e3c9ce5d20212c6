/* ANSWER runs emitted transforms on the cases from stdin, and writes return codes, bands and signals to stdout. The
   includer defines ANSWER, W, S and T and includes the emitted file. A case is eight 64-bit integers for each of size,
   levels, origin and order, then axes, gain and row padding, and then the samples. */
#include <stdio.h>
#include <stdlib.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

static void must(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "driver: %s\n", what);
        exit(2);
    }
}

void ANSWER(void);

void ANSWER(void)
{
    int64_t head[35];
    while (fread(head, sizeof head, 1, stdin) == 1) {
        PASTE(W, _shape) shape;
        int64_t samples = 1, outer = 1;
        memset(&shape, 0, sizeof shape);
        shape.axes = (int)head[32];
        shape.gain = (int)head[33];
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
        T *const signal = (T *)malloc((size_t)samples * sizeof(T));
        T *const bands = (T *)malloc((size_t)outer * sizeof(T));
        const size_t bytes = PASTE(PASTE(W, _scratch_bytes_), S)(&shape);
        /* Guard bytes after the scratch memory check its size. */
        unsigned char *const scratch = (unsigned char *)malloc(bytes + 64);
        must(signal != NULL && bands != NULL && scratch != NULL && bytes > 0, "out of memory");
        memset(scratch + bytes, 0x5a, 64);
        memset(bands, 0x77, (size_t)outer * sizeof(T));
        must(fread(signal, sizeof(T), (size_t)samples, stdin) == (size_t)samples, "short input");
        int32_t code = PASTE(PASTE(W, _forward_), S)(&shape, signal, bands, scratch);
        fwrite(&code, sizeof code, 1, stdout);
        if (code == 0) {
            const int64_t width = shape.size[shape.axes - 1];
            for (int64_t i = 0; i < samples; i += width) {
                fwrite(bands + i / width * (width + head[34]), sizeof(T), (size_t)width, stdout);
            }
            memset(signal, 0x66, (size_t)samples * sizeof(T));
            must(PASTE(PASTE(W, _inverse_), S)(&shape, bands, signal, scratch) == 0, "the inverse failed");
            fwrite(signal, sizeof(T), (size_t)samples, stdout);
        }
        for (size_t i = 0; i < 64; ++i) must(scratch[bytes + i] == 0x5a, "wrote past the scratch memory");
        free(signal);
        free(bands);
        free(scratch);
    }
}
