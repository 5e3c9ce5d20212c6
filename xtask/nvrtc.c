/* nvrtc LIBRARY FILE ARCHITECTURE...: compiles a file with NVRTC, for each architecture: sm_90 to machine code, compute_90 to PTX. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *program_t;

static void fail(const char *what, const char *detail)
{
    fprintf(stderr, "nvrtc: %s: %s\n", what, detail);
    exit(1);
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0) fail("cannot read", path);
    const long size = ftell(f);
    char *text = malloc((size_t)size + 1);
    rewind(f);
    if (text == NULL || fread(text, 1, (size_t)size, f) != (size_t)size) fail("cannot read", path);
    text[size] = '\0';
    fclose(f);
    return text;
}

/* A function of the library. The detour through memcpy is for C99, in which a function is no object. */
static void load(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL) fail("no such function", name);
    memcpy(function, &symbol, sizeof symbol);
}

int main(int argc, char **argv)
{
    if (argc < 4) fail("usage", "nvrtc LIBRARY FILE ARCHITECTURE...");
    void *library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) fail("cannot load", dlerror());
    int (*create)(program_t *, const char *, const char *, int, const char *const *, const char *const *);
    int (*compile)(program_t, int, const char *const *);
    int (*log_size)(program_t, size_t *);
    int (*log_text)(program_t, char *);
    int (*cubin_size)(program_t, size_t *), (*ptx_size)(program_t, size_t *);
    int (*destroy)(program_t *);
    load(library, "nvrtcCreateProgram", &create);
    load(library, "nvrtcCompileProgram", &compile);
    load(library, "nvrtcGetProgramLogSize", &log_size);
    load(library, "nvrtcGetProgramLog", &log_text);
    load(library, "nvrtcGetCUBINSize", &cubin_size);
    load(library, "nvrtcGetPTXSize", &ptx_size);
    load(library, "nvrtcDestroyProgram", &destroy);

    char *text = read_file(argv[2]);
    for (int i = 3; i < argc; ++i) {
        program_t program;
        char option[64];
        const char *options[1] = {option};
        size_t size = 0;
        snprintf(option, sizeof option, "--gpu-architecture=%s", argv[i]);
        if (create(&program, text, argv[2], 0, NULL, NULL) != 0) fail("cannot make a program of", argv[2]);
        const int code = compile(program, 1, options);
        char *words = log_size(program, &size) == 0 ? calloc(size + 1, 1) : NULL;
        if (words == NULL || log_text(program, words) != 0) fail(argv[2], "has no log");
        /* A warning is a failure too. */
        if (code != 0 || words[0] != '\0') fail(argv[2], words);
        free(words);
        int (*code_size)(program_t, size_t *) = strncmp(argv[i], "sm_", 3) == 0 ? cubin_size : ptx_size;
        /* PTX is a text: none has its end. */
        if (code_size(program, &size) != 0 || size <= 1) fail(argv[2], "gives no code");
        destroy(&program);
    }
    free(text);
    return 0;
}
