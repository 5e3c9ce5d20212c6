//! Texts after the options in help: examples and notes.

pub(super) const EXAMPLES: &str = "\
Examples:
  liftc filters/dd137.lift -o kernels/            CUDA, C and a C header
  liftc cdf97 --emit cuda --sample f32 -o -       to the standard output
  liftc filters/dd137.lift -o kernels/ --check    is kernels/ up to date?
  liftc check my.lift                             all errors of a file
  liftc fmt my.lift                               its layout
  liftc list                                      the catalogue
  liftc explain dd137 --svg window.svg            its window, costs and range
  liftc plot cdf97 -o cdf97.svg                  its functions and diagram
  liftc factor bior4.4 -o mine.lift               a filter bank as lifting steps
  liftc transform photo.png -w dd137 -l 3 -o coeffs.npy --picture pyramid.png
  liftc transform coeffs.npy --inverse -o back.png
  liftc encode photo.png -o photo.lpc             a picture as few bytes
  liftc decode photo.lpc -o back.png
  liftc bench -w cdf97 --shape 4096x4096 -l 5     how fast it is

A wavelet is named by the catalogue (`dd137`, `bior4.4`), by a file (`my.lift`), or by a file and a name in it \
(`my.lift#db2`).

Exit codes: 0 done, 1 the input is at fault, 2 the command line is at fault.";

pub(super) const LSP_NOTES: &str = "\
Editors start it; editors/README.md has the settings of VS Code, Neovim, Helix and Emacs. Diagnostics have the codes \
of `liftc explain`. Hovering over a wavelet's name shows its filters, over a step its formula.

Exit codes: 0 the editor ended it, 1 the connection broke.";

pub(super) const FMT_NOTES: &str = "\
Examples:
  liftc fmt filters/*.lift
  liftc fmt --check my.lift                       is it formatted?
  liftc fmt - < my.lift

A statement has its own line. Four things stay as they are written: blocks on one line of at most 120 columns, line \
breaks in expressions, single blank lines, and operators and comments aligned by extra blanks.

Exit codes: 0 done, 1 a file has errors, or --check found one that is not formatted.";

pub(super) const FACTOR_EXAMPLES: &str = "\
Examples:
  liftc factor bior4.4                        the four steps of (9,7), and K
  liftc factor db8 --list                     all factorisations found
  liftc factor db20 --as lattice -o db20.lift
  liftc factor --lowpass \"-1/8 1/4 3/4 1/4 -1/8\" --highpass \"-1/2 1 -1/2\"
  liftc factor --lowpass \"1/sqrt(2) 1/sqrt(2)\" --name haar
  liftc factor filters.json

Numbers are fractions, decimals and expressions with sqrt(), separated by blanks or commas. Rational banks are \
factored exactly. Files of numbers:
  .txt    lines `lowpass at -2: -1/8 1/4 3/4 1/4 -1/8` and `highpass at 0: …`;
          `at -2` and the words may be left out
  .json   {\"lowpass\": […], \"highpass\": […], \"lowpass_at\": -2,
          \"highpass_at\": 0}, or PyWavelets' dec_lo, dec_hi, rec_lo, rec_hi
  .npy    one row of taps (a low-pass) or two rows
Synthesis filters (`synthesis-lowpass`, `synthesis_lowpass`, rec_lo, …) are checked against the analysis ones.";

pub(super) const SHOW_NOTES: &str = "\
The output is a .lift file; everything except the wavelet itself is a comment.

The filters are those of one level, away from borders: low[k] = Σ h[n]·x[2k + n], and sample x[2k + n] receives h[n] \
of synthesis from low[k]. The L2 norm of a synthesis vector is the signal's error for an error of 1 in a coefficient; \
codecs quantise bands with steps inversely proportional to it. The L1 norm of analysis bounds the coefficients of \
samples up to 1.";

pub(super) const TRANSFORM_EXAMPLES: &str = "\
Examples:
  A picture, lossless: coefficients as a numpy array, and the pyramid to look at
    liftc transform photo.png -w dd137 -l 3 -o coeffs.npy --picture pyramid.png
  The inverse; coeffs.npy.json has all the data that it needs
    liftc transform coeffs.npy --inverse -o back.png
  A quarter of the width and height
    liftc transform coeffs.npy --inverse --level 2 -o small.png
  The exact integers of JPEG 2000
    liftc transform photo.png -w legall53 -l 5 --profile jpeg2000 -o coeffs.npy
  VC-2 takes multiples of 2^levels only
    liftc transform photo.png -w dd137 -l 3 --profile vc2 --pad edge -o c.npy
  A stack of pictures, along axes 1 and 2; a volume in a .npz
    liftc transform frames.npy -w cdf97 -l 4 --axes 1,2 -o coeffs.npy
    liftc transform brain.npz --array volume -w dd137 -l 3 -o coeffs.npy
  Several at once, into a directory
    liftc transform *.png -w legall53 -l 3 -o coeffs/
  Different levels for each axis; a tile that begins at row 0, column 5
    liftc transform film.npy -w legall53 -l 2,4,4 -o coeffs.npy
    liftc transform tile.png -w legall53 -l 3 --origin 0,5 -o coeffs.npy
  Columns by the 5/3; rows by DD(13,7), and by the S transform after level 1
    liftc transform photo.png -w legall53,dd137+s_transform -l 3 -o coeffs.npy
  Independent tiles of 256 × 256, as in JPEG 2000
    liftc transform photo.png -w legall53 -l 3 --tile 256x256 -o coeffs.npy
  In a pipe
    convert a.raw pgm:- | liftc transform - -w dd137 -l 3 -o - > coeffs.npy
    liftc transform coeffs.npy --inverse -o - --format ppm | display
  Coefficients changed in numpy, which no longer match their sidecar
    liftc transform coeffs.npy --inverse --force -o denoised.png

The sidecar, coeffs.npy.json, identifies its coefficients. The inverse refuses other coefficients and edited sidecars. \
In output to a pipe it follows the data, where numpy does not look; --sidecar writes it to a file.

Input formats are PNG, JPEG, TIFF, PGM, PPM, PBM and PAM, grey or colour, with or without alpha, and numpy's .npy and \
.npz of 1 to 8 axes. Each channel is transformed separately; channels are the last axis of the array. Pages of a TIFF \
are a stack, with an axis in front. A note lists parts of a file that the samples do not hold. A .npy of 16 MiB or \
more is mapped into memory, and must not change meanwhile.

Coefficients are .npy or .npz; the inverse and --picture write PNG, TIFF, PGM, PPM, PBM and PAM, by the extension of \
the name.

Sample types, unless --sample says otherwise:
  element           integer wavelet   real wavelet
  uint8, int8       i16               f32
  int16             i16               f32
  uint16            i32               f32
  int32             i32               f64
  uint32, int64     i64               f64
  float16, 32, 64   none              f16, f32, f64
A profile with a gain shift uses the next wider integer type if values would not fit.";

pub(super) const ENCODE_EXAMPLES: &str = "\
Examples:
  liftc encode photo.png -o photo.lpc                 lossless
  liftc encode photo.png --psnr 40 -o photo.lpc       at least 40 dB
  liftc encode photo.png --bpp 1.5 -o photo.lpc       at most 1.5 bits per pixel
  liftc encode photo.png --quality 75 -o photo.lpc
  liftc encode photo.png -w dd137 -l 4 -o photo.lpc   with another wavelet
  liftc encode *.png --psnr 45 -o streams/            into a directory
  liftc encode photo.png --layers 8 -o photo.lpc      any prefix is a picture
  liftc encode map.tif --tile 1024x1024 -o map.lpc    parts can be decoded alone
  liftc encode volume.npy --max-error 0.1% -o v.lpc   no sample off by more
  liftc encode photo.png -o photo.jph                 HTJ2K, for other decoders
  liftc encode photo.png --psnr 45 -o photo.jp2       JPEG 2000 Part 1
  liftc decode photo.lpc -o back.png
  head -c 20000 photo.lpc | liftc decode --salvage - -o preview.png

Any wavelet can be used; one of your own is stored in the stream. Lossless coding needs an integer wavelet. \
JPEG 2000 has two wavelets: legall53 without loss, cdf97 otherwise. Its formats are .jph and .j2c (HTJ2K: file, \
codestream), .jp2 and .j2k (Part 1).

Pictures are PNG, JPEG, TIFF, PGM, PPM, PBM and PAM of 8 and 16 bits, arrays .npy and .npz of height × width or \
height × width × components. RGB is coded as luminance and chrominance, other components separately. The format is \
described in docs/format.md.";

pub(super) const DECODE_EXAMPLES: &str = "\
Examples:
  liftc decode photo.lpc -o back.png
  liftc decode photo.lpc --level 2 -o quarter.png     a quarter of each side
  liftc decode photo.lpc --layers 3 -o rough.png      the first quality layers
  liftc decode map.lpc --region 100,200,512,512 -o part.png
  liftc decode photo.lpc -o back.npy
  liftc decode scan.jp2 -o scan.png                   JPEG 2000, HTJ2K
  liftc decode *.lpc -o pictures/
  curl … | liftc decode - -o - --format ppm | display

A truncated stream decodes to what it holds, coarse resolutions first, with a note. A corrupted stream is an error.";

pub(super) const TRANSCODE_EXAMPLES: &str = "\
Examples:
  liftc transcode old.jp2 -o new.jph                  decodes much faster
  liftc transcode new.jph -o old.jp2                  for old decoders
  liftc transcode *.jp2 --format jph -o new/

Coefficients stay as they are, and so do colours, profiles and other boxes. Quality layers become one.";

pub(super) const KERNELS_EXAMPLES: &str = "\
Examples:
  liftc kernels -w cdf97 --shape 1080x1920 -l 3 -o video.cu
  nvcc -cubin -arch=sm_90 -o video.cubin video.cu

On the machine with the device, which then needs no compiler, load it for a plan of the same wavelet, shape, levels, \
sample type and border rule:
  let device = device.with_kernels(Compiled::load(\"video.cubin\")?);

On another kind of device, the same plan may use other kernels: --multiprocessors specifies the device.";

pub(super) const BENCH_EXAMPLES: &str = "\
Examples:
  liftc bench -w cdf97,legall53 --shape 4096x4096,1080x1920 -l 1,5 --svg a.svg
  liftc bench --device cuda -w cdf97 --shape 512x512x512 -l 1       a volume
  liftc bench --device cuda -w legall53 --shape 1080x1920 --batch 64 -l 3
  liftc bench --device cpu --threads 4 -w dd137 --sample i16,i32

Every combination of wavelet, sample type, shape and number of levels is measured. On a CUDA device, times are those \
of launches replayed as a graph, by events; the copy is a kernel that reads and writes a 16-byte vector per thread. On \
the CPU, the copy is a memcpy with as many threads; `streaming` is a copy with non-temporal stores, the least that \
memory allows. Arrays of 480 MiB in all are used in turn, so that no data is in a cache. Times are medians, and ± is \
half the interquartile range. Results are verified before timing.";

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  liftc completions bash > ~/.local/share/bash-completion/completions/liftc
  liftc completions zsh > ~/.zfunc/_liftc      with ~/.zfunc in fpath
  liftc completions fish > ~/.config/fish/completions/liftc.fish
  liftc man ~/.local/share/man/man1            the manual's pages";
