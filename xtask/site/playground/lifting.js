// The compiler and the CPU plans: WebAssembly of the crate lifting-wasm, and a class that asks it.
//
// Types of requests and replies:
/**
 * @typedef {{start: number, end: number, line: number, remark: string}} Place UTF-16 units from 0; lines from 1
 * @typedef {{code: string, anchor: ?string, severity: "error"|"warning", message: string, help: ?string,
 *     places: Place[]}} Diagnostic the first place is the subject
 * @typedef {{wavelets: {name: string, domain: string, boundary: string}[], diagnostics: Diagnostic[]}} Checked
 * @typedef {{file: string, text: string, header: ?string, notes: string[], command: string}} Emitted
 * @typedef {{psnr: ?number, zeros: number, coefficients: number, sample: string, notes: string[],
 *     pyramid?: number[], svg?: string}} Transformed `psnr` is null without an error; the bytes of a picture are that
 *     of its coefficients, with the shape `pyramid`, then the reconstruction
 *
 * @typedef {{what: "catalogue"} | {what: "named", name: string} | {what: "check", text: string}
 *     | {what: "show"|"figure"|"window", text: string, wavelet: string}
 *     | {what: "emit", text: string, wavelet: string, target: "cuda"|"c"|"rust"|"opencl"}
 *     | {what: "transform", text: string, wavelet: string, shape: number[], levels: number,
 *        threshold: number}} Request
 */
class Lifting {
  #module;
  #exports;

  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.#module = module;
    this.#start();
  }

  #start() {
    this.#exports = new WebAssembly.Instance(this.#module, {}).exports;
  }

  #put(bytes) {
    const at = this.#exports.lifting_allocate(bytes.length);
    new Uint8Array(this.#exports.memory.buffer, at, bytes.length).set(bytes);
    return at;
  }

  // Copies parts of memory, whose addresses and lengths are at `at`.
  #parts(at, count) {
    const places = new Uint32Array(this.#exports.memory.buffer, at, 2 * count);
    return Array.from({ length: count }, (_, i) =>
      new Uint8Array(this.#exports.memory.buffer, places[2 * i], places[2 * i + 1]).slice());
  }

  /**
   * Answers a request: its reply, and the reply's bytes. `data` has the samples of a transform: bytes of a picture,
   * little-endian doubles of a signal.
   * @param {Request} request
   * @param {Uint8Array} [data]
   * @throws {Error} with a message for the user
   */
  ask(request, data = new Uint8Array()) {
    const { lifting_allocate, lifting_answer, lifting_free } = this.#exports;
    let json, bytes;
    try {
      const asked = new TextEncoder().encode(JSON.stringify(request));
      const [request_at, data_at, reply_at] = [this.#put(asked), this.#put(data), lifting_allocate(16)];
      lifting_answer(request_at, asked.length, data_at, data.length, reply_at);
      [json, bytes] = this.#parts(reply_at, 2);
      const places = [...new Uint32Array(this.#exports.memory.buffer, reply_at, 4)];
      lifting_free(places[0], places[1]);
      lifting_free(places[2], places[3]);
      lifting_free(request_at, asked.length);
      lifting_free(data_at, data.length);
      lifting_free(reply_at, 16);
    } catch (trap) {
      throw new Error(this.#why(trap));
    }
    const reply = JSON.parse(new TextDecoder().decode(json));
    if (reply.error) throw new Error(reply.error);
    return { reply: reply.ok, bytes };
  }

  // After a trap, memory may be in disorder: reads the panic's message, and starts afresh.
  #why(trap) {
    let message = "";
    try {
      const at = this.#exports.lifting_allocate(8);
      this.#exports.lifting_panic(at);
      message = new TextDecoder().decode(this.#parts(at, 1)[0]);
    } catch {
      // Memory is exhausted.
    }
    this.#start();
    const why = message || `${trap.message}, perhaps for lack of memory`;
    return `The compiler failed: ${why}. Please report the text that it was given.`;
  }
}
