// The playground: an editor whose text is checked as it is typed, and tabs with what the compiler makes of it.
//
// The compiler runs in workers. Its code and theirs are in engine.js, as text, so that pages from the file system may
// load them. The text, the tab and the wavelet are in the address.
(() => {
  const $ = (id) => document.getElementById(id);
  const [text, colours, status, errors, panel, examples, wavelet, tabs] =
    ["text", "colours", "status", "errors", "panel", "examples", "wavelet", "tabs"].map((name) => $(`pg-${name}`));

  /** An element with properties and children. */
  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const later = (delay, action) => {
    let timer;
    return () => {
      clearTimeout(timer);
      timer = setTimeout(action, delay);
    };
  };
  const save = (name, contents) => {
    const url = URL.createObjectURL(new Blob([contents], { type: "text/plain" }));
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };

  // Compiler.

  /** A worker with the compiler. Only the newest question is answered: an older one is dropped. */
  class Engine {
    #worker;
    #waiting = null;
    #count = 0;

    constructor(url, wasm) {
      this.url = url;
      this.wasm = wasm;
    }

    #start() {
      this.#worker = new Worker(this.url);
      this.#worker.postMessage({ wasm: this.wasm });
      this.#worker.onmessage = ({ data }) => {
        const { resolve, reject } = this.#waiting;
        this.#waiting = null;
        if (data.error) reject(new Error(data.error));
        else resolve(data);
      };
      this.#worker.onerror = (event) => this.#waiting?.reject(new Error(event.message));
    }

    /** Reply and bytes; `null` if a newer question came. */
    ask(request, data) {
      if (this.#waiting) {
        this.#waiting.resolve(null);
        this.#worker.terminate();
        this.#worker = null;
      }
      if (!this.#worker) this.#start();
      return new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject };
        this.#worker.postMessage({ id: ++this.#count, request, data });
      });
    }
  }

  const load = async () => {
    await new Promise((resolve, reject) => {
      const script = make("script", { src: "playground/engine.js", onload: resolve });
      script.onerror = () => reject(new Error("playground/engine.js could not be loaded"));
      document.head.append(script);
    });
    const packed = Uint8Array.from(atob(ENGINE.wasm), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const wasm = await new Response(stream).arrayBuffer();
    const url = URL.createObjectURL(new Blob([ENGINE.worker], { type: "text/javascript" }));
    return [new Engine(url, wasm), new Engine(url, wasm)];
  };

  // Address: the text compressed, and the tab.

  const through = async (bytes, stream) =>
    new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
  const packed = async (source) => {
    const bytes = await through(new TextEncoder().encode(source), new CompressionStream("deflate-raw"));
    const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    return letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  };
  const unpacked = async (letters) => {
    const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (l) => l.charCodeAt(0));
    return new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
  };
  const address = () => new URLSearchParams(location.hash.slice(1));
  const remember = async () => {
    const state = new URLSearchParams({ text: await packed(text.value), tab: tab.name });
    if (wavelet.value) state.set("wavelet", wavelet.value);
    history.replaceState(null, "", `#${state}`);
  };

  // Editor: a text field over a coloured copy of its text.

  const KEYWORDS = "wavelet|domain|integer|real|boundary|profile|const|factor|even|odd|swap|lattice|bank|gain";
  const TOKENS = new RegExp(String.raw`(?<comment>//.*)|(?<keyword>\b(?:${KEYWORDS})\b)|(?<number>\b[0-9][\w.]*)`, "g");
  const LONGEST_COLOURED = 50000;
  let diagnostics = [];

  const colour = () => {
    const source = text.value;
    const marks = diagnostics.flatMap(({ severity, places: [{ start, end }] }) =>
      ({ start, end: Math.max(end, start + 1), name: `pg-${severity}` }));
    const tokens = source.length > LONGEST_COLOURED ? [] : [...source.matchAll(TOKENS)].map((found) => {
      const [name] = Object.entries(found.groups).find(([, value]) => value !== undefined);
      return { start: found.index, end: found.index + found[0].length, name: `pg-${name}` };
    });
    const all = [...tokens, ...marks];
    const cuts = [...new Set([0, source.length, ...all.flatMap(({ start, end }) => [start, end])])];
    cuts.sort((a, b) => a - b);
    // A line of its own keeps the copy as high as the field.
    const pieces = cuts.slice(1).map((end, i) => {
      const names = all.filter((part) => part.start <= cuts[i] && part.end >= end).map((part) => part.name);
      const piece = source.slice(cuts[i], end);
      return names.length ? make("span", { className: names.join(" ") }, piece) : piece;
    });
    colours.replaceChildren(...pieces, "\n");
  };

  const goTo = ({ start, end }) => {
    text.focus();
    text.setSelectionRange(start, Math.max(end, start + 1));
  };

  const list = () => {
    errors.replaceChildren(...diagnostics.map(({ code, anchor, severity, message, help, places }) => {
      const item = make("li", { className: `pg-${severity}-item` });
      const where = make("button", { type: "button" }, `Line ${places[0].line}`);
      where.addEventListener("click", () => goTo(places[0]));
      const link = make("a", { href: `language.html#${anchor ?? ""}` }, code);
      item.append(where, ` ${severity} `, link, make("strong", {}, ` ${message}`));
      const remarks = places.filter((other) => other.remark).map(({ line, remark }) => `line ${line}: ${remark}`);
      if (remarks.length) item.append(make("div", {}, remarks.join("; ")));
      if (help) item.append(make("div", {}, `Help: ${help}`));
      return item;
    }));
  };

  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  let checker, maker;
  let valid = false;
  const check = async () => {
    const source = text.value;
    const checked = await checker.ask({ what: "check", text: source }).catch((error) => fail(error));
    if (!checked || source !== text.value) return;
    const { wavelets } = checked.reply;
    diagnostics = checked.reply.diagnostics;
    const count = diagnostics.filter(({ severity }) => severity === "error").length;
    valid = count === 0 && wavelets.length > 0;
    if (valid) {
      const names = wavelets.map(({ name, domain, boundary }) => `${name} (${domain}, ${boundary})`);
      status.textContent = `No errors: ${names.join(", ")}`;
      const chosen = wavelets.find(({ name }) => name === wavelet.value) ?? wavelets[0];
      wavelet.replaceChildren(...wavelets.map(({ name }) => new Option(name)));
      wavelet.value = chosen.name;
      $("pg-several").hidden = wavelets.length === 1;
    } else {
      status.textContent = count ? plural(count, "error") : "The text has no wavelet";
    }
    status.className = valid ? "" : "pg-wrong";
    colour();
    list();
    await show();
    await remember();
  };
  const fail = (error) => {
    status.textContent = error.message;
    status.className = "pg-wrong";
    return null;
  };
  const checkLater = later(150, check);

  // Tabs.

  const command = (words) => make("p", { className: "pg-command" }, "As ", make("code", {}, words));
  const output = (contents, label) =>
    make("pre", { className: "pg-output", tabIndex: 0, ariaLabel: label, role: "region" }, make("code", {}, contents));
  const figure = (svg, label) => {
    const drawn = make("img", { src: `data:image/svg+xml,${encodeURIComponent(svg)}`, alt: label });
    // Phones scroll it.
    return make("div", { className: "pg-figure", tabIndex: 0, role: "region", ariaLabel: "Figure" }, drawn);
  };
  const button = (label, action) => {
    const made = make("button", { type: "button" }, label);
    made.addEventListener("click", action);
    return made;
  };
  const copy = (made, contents) => navigator.clipboard.writeText(contents()).then(
    () => { made.textContent = "Copied"; },
    () => { made.textContent = "Copying is not allowed here"; },
  );
  const copier = (label, contents) => {
    const made = button(label, () => copy(made, contents));
    return made;
  };

  const asked = (what, more = {}, data = undefined) =>
    maker.ask({ what, text: text.value, wavelet: wavelet.value, ...more }, data);
  const files = (target) => async () => {
    const answer = await asked("emit", { target });
    if (!answer) return null;
    const { file, text: contents, header, notes, command: words } = answer.reply;
    const bar = make("div", { className: "pg-bar" }, button(`Save ${file}`, () => save(file, contents)));
    const name = wavelet.value;
    if (header) bar.append(button(`Save ${file.split(".")[0]}.h`, () => save(`${file.split(".")[0]}.h`, header)));
    bar.append(copier("Copy", () => contents));
    const size = `${contents.split("\n").length - 1} lines`;
    const remarks = notes.map((note) => make("p", {}, note));
    return [command(words), bar, ...remarks, output(contents, `${file} of ${name}, ${size}`)];
  };

  const TABS = [
    { name: "about", title: "What it is", make: async () => {
      const answer = await asked("show");
      return answer && [command(answer.reply.command), output(answer.reply.text, `Properties of ${wavelet.value}`)];
    } },
    { name: "figures", title: "Figures", make: async () => {
      const answer = await asked("figure");
      if (!answer) return null;
      const { svg, command: words } = answer.reply;
      const bar = make("div", { className: "pg-bar" }, button("Save SVG", () => save(`${wavelet.value}.svg`, svg)));
      const label = `Scaling functions, wavelets, frequency responses and lifting diagram of ${wavelet.value}`;
      return [command(words), bar, figure(svg, label)];
    } },
    { name: "window", title: "Window", make: async () => {
      const answer = await asked("window");
      if (!answer) return null;
      const label = `Rows that each step of ${wavelet.value} updates and reads`;
      const explained = output(answer.reply.text, `Steps and window of ${wavelet.value}`);
      return [command(answer.reply.command), figure(answer.reply.svg, label), explained];
    } },
    { name: "cuda", title: "CUDA", make: files("cuda"), slow: true },
    { name: "c", title: "C", make: files("c") },
    { name: "rust", title: "Rust", make: files("rust") },
    { name: "opencl", title: "OpenCL", make: files("opencl") },
    { name: "data", title: "Picture or signal", make: () => trial.show() },
  ];
  let tab = TABS[0];

  let shown = "";
  const show = async () => {
    if (!maker) return;
    const key = JSON.stringify([tab.name, wavelet.value, text.value, valid]);
    if (key === shown) return;
    shown = key;
    panel.ariaBusy = "true";
    if (!valid) {
      panel.replaceChildren(make("p", {}, "The text has errors: mend them, and the result appears here."));
      panel.ariaBusy = "false";
      return;
    }
    if (panel.dataset.tab !== tab.name) {
      const slow = tab.slow ? "Choosing kernels for all sizes, which takes seconds…" : "Working…";
      panel.replaceChildren(make("p", {}, slow));
    }
    panel.dataset.tab = tab.name;
    try {
      const made = await tab.make();
      if (!made || key !== shown) return;
      panel.replaceChildren(...made);
    } catch (error) {
      if (key !== shown) return;
      panel.replaceChildren(make("p", { className: "pg-wrong", role: "alert" }, error.message));
      panel.dataset.tab = "";
    }
    panel.ariaBusy = "false";
  };

  const select = (wanted, focus) => {
    tab = wanted;
    for (const head of tabs.children) {
      const own = head.dataset.tab === tab.name;
      head.ariaSelected = String(own);
      head.tabIndex = own ? 0 : -1;
      if (own) {
        panel.setAttribute("aria-labelledby", head.id);
        if (focus) head.focus();
      }
    }
    show().then(remember);
  };
  tabs.append(...TABS.map(({ name, title }, i) => {
    const head = make("button", { type: "button", role: "tab", id: `pg-tab-${name}` }, title);
    head.dataset.tab = name;
    head.setAttribute("aria-controls", "pg-panel");
    head.addEventListener("click", () => select(TABS[i]));
    head.addEventListener("keydown", (event) => {
      const next = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: TABS.length - 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      select(TABS[(next + TABS.length) % TABS.length], true);
    });
    return head;
  }));

  // Picture or signal.

  const LEVELS = 3;
  const MOST_LEVELS = 8;
  const BLUR = 20;
  const MOST_PIXELS = 4_000_000;

  /** Pixels of a picture without alpha; grey ones have one channel, and large ones are reduced. */
  const pixels = (drawn, ...size) => {
    const scale = Math.min(1, Math.sqrt(MOST_PIXELS / (size[0] * size[1])));
    const [width, height] = size.map((length) => Math.max(1, Math.floor(length * scale)));
    const canvas = make("canvas", { width, height });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(drawn, 0, 0, width, height);
    const { data } = context.getImageData(0, 0, width, height);
    let grey = true;
    for (let i = 0; i < data.length && grey; i += 4) grey = data[i] === data[i + 1] && data[i] === data[i + 2];
    const channels = grey ? 1 : 3;
    const bytes = new Uint8Array(width * height * channels);
    for (let i = 0; i < width * height; i++) {
      for (let c = 0; c < channels; c++) bytes[i * channels + c] = data[4 * i + c];
    }
    const note = scale < 1 ? `, reduced to ${width} × ${height}` : "";
    return { bytes, shape: [height, width, channels], note };
  };
  const numbers = (source, name) => {
    const words = source.split(/[\s,;]+/).filter(Boolean);
    const values = Float64Array.from(words, Number);
    const bad = values.findIndex((value) => !Number.isFinite(value));
    if (!words.length || bad >= 0) {
      const why = words.length ? `“${words[bad].slice(0, 20)}” is not a number` : "it is empty";
      throw new Error(`${name}: ${why}; a signal is a text of numbers, between spaces, commas or lines`);
    }
    return { bytes: new Uint8Array(values.buffer), shape: [values.length] };
  };
  const read = async (file) => {
    if (!file.type.startsWith("image/")) return numbers(await file.text(), file.name);
    const options = { premultiplyAlpha: "none", colorSpaceConversion: "none" };
    const drawn = await createImageBitmap(file, options).catch(() => {
      throw new Error(`${file.name}: this browser cannot read the picture; PNG, JPEG and WebP are safe choices`);
    });
    return pixels(drawn, drawn.width, drawn.height);
  };
  const builtIn = async () => {
    const drawn = make("img", { src: ENGINE.picture });
    await drawn.decode();
    return pixels(drawn, drawn.naturalWidth, drawn.naturalHeight);
  };

  const trial = {
    data: null,
    name: "The test picture",
    parts: null,

    /** The panel's controls, made once. */
    build() {
      const chooser = make("input", { type: "file", accept: "image/*,.txt,.csv,.dat", id: "pg-file" });
      chooser.addEventListener("change", () => chooser.files[0] && this.take(chooser.files[0]));
      const own = make("label", {}, "Picture or text of numbers ", chooser);
      const test = button("Test picture", async () => this.use(await builtIn(), "The test picture"));
      const levels = make("input", { type: "number", min: 1, max: MOST_LEVELS, value: LEVELS });
      const threshold = make("input", { type: "range", min: 0, max: 100, step: 0.5, value: 0 });
      const value = make("output", {}, "0");
      threshold.addEventListener("input", () => {
        value.textContent = threshold.value;
        this.runLater();
      });
      levels.addEventListener("input", () => levels.checkValidity() && levels.value && this.runLater());
      const result = make("p", { className: "pg-result", role: "status" });
      const views = make("div", { className: "pg-views" });
      const drop = make("div", { className: "pg-drop" },
        make("div", { className: "pg-bar" }, test, own),
        make("p", {}, "Or drop a file here. It stays in this page."));
      drop.addEventListener("dragover", (event) => {
        event.preventDefault();
        drop.classList.add("pg-over");
      });
      drop.addEventListener("dragleave", () => drop.classList.remove("pg-over"));
      drop.addEventListener("drop", (event) => {
        event.preventDefault();
        drop.classList.remove("pg-over");
        if (event.dataTransfer.files[0]) this.take(event.dataTransfer.files[0]);
      });
      const settings = make("div", { className: "pg-bar" },
        make("label", {}, "Levels ", levels),
        make("label", { className: "pg-slider" }, "Threshold ", threshold, value));
      const note = make("p", { className: "pg-note" }, "Details below the threshold become 0. Its unit is a sample's: ",
        "each band counts by the norm of its synthesis, so that wavelets compare.");
      this.parts = { levels, threshold, result, views, all: [drop, settings, result, views, note] };
    },

    async take(file) {
      try {
        this.use(await read(file), file.name);
      } catch (error) {
        this.fail(error);
      }
    },

    use(data, name) {
      Object.assign(this, { data, name });
      return this.run();
    },

    fail(error) {
      this.parts.result.textContent = error.message;
      this.parts.result.classList.add("pg-wrong");
      return null;
    },

    async show() {
      if (!this.parts) this.build();
      if (!panel.contains(this.parts.result)) panel.replaceChildren(...this.parts.all);
      await (this.data ? this.run() : this.use(await builtIn(), this.name));
      return this.parts.all;
    },

    async run() {
      const { bytes, shape } = this.data;
      const [levels, threshold] = [this.parts.levels, this.parts.threshold].map(({ value }) => Number(value));
      const answer = await asked("transform", { shape, levels, threshold }, bytes)
        .catch((error) => this.fail(error));
      if (!answer) return;
      const { psnr, zeros, coefficients, sample, notes, pyramid, svg } = answer.reply;
      const { result, views } = this.parts;
      result.classList.remove("pg-wrong");
      const quality = psnr === null ? "PSNR ∞: the reconstruction is exact" : `PSNR ${psnr.toFixed(2)} dB`;
      const all = plural(coefficients, `${sample} coefficient`);
      const share = `${(100 * zeros / coefficients).toFixed(2)} % of ${all} are 0`;
      result.replaceChildren(make("strong", {}, `${quality}; ${share}. `), notes.join(" "));
      if (svg) {
        views.replaceChildren(figure(svg, `${this.name}, its reconstruction and its coefficients`));
        return;
      }
      const size = pyramid.reduce((product, n) => product * n, 1);
      views.replaceChildren(
        this.view(`${this.name}${this.data.note || ", as it is"}`, shape, bytes),
        this.view("Coefficients: details stretched around grey", pyramid, answer.bytes.subarray(0, size)),
        this.view("Reconstruction", shape, answer.bytes.subarray(size)),
      );
    },

    view(caption, [height, width, channels], bytes) {
      const canvas = make("canvas", { width, height, role: "img", ariaLabel: caption });
      const context = canvas.getContext("2d");
      const drawn = context.createImageData(width, height);
      for (let i = 0; i < width * height; i++) {
        for (let c = 0; c < 3; c++) drawn.data[4 * i + c] = bytes[i * channels + (channels === 3 ? c : 0)];
        drawn.data[4 * i + 3] = 255;
      }
      context.putImageData(drawn, 0, 0);
      return make("figure", {}, canvas, make("figcaption", {}, caption));
    },
  };
  trial.runLater = later(BLUR, () => trial.run());

  // Start.

  const byName = async (name) => (await checker.ask({ what: "named", name })).reply.text;
  const start = async () => {
    [checker, maker] = await load();
    const { reply: catalogue } = await checker.ask({ what: "catalogue" });
    const families = Map.groupBy(catalogue, ({ family }) => family);
    examples.append(...[...families].map(([family, members]) =>
      make("optgroup", { label: family }, ...members.map(({ name }) => new Option(name)))));
    for (const id of ["examples", "link", "save"]) $(`pg-${id}`).disabled = false;
    examples.addEventListener("change", async () => {
      if (!examples.value) return;
      text.value = await byName(examples.value);
      examples.value = "";
      await check();
    });
    text.addEventListener("input", () => {
      colour();
      checkLater();
    });
    wavelet.addEventListener("change", () => show().then(remember));
    $("pg-save").addEventListener("click", () => save(`${wavelet.value || "wavelet"}.lift`, text.value));
    const link = $("pg-link");
    link.addEventListener("click", async () => {
      await remember();
      await copy(link, () => location.href);
      setTimeout(() => { link.textContent = "Copy link"; }, 2000);
    });
    await open();
    addEventListener("hashchange", open);
  };
  const open = async () => {
    const state = address();
    const [source, name] = [state.get("text"), state.get("name") ?? "dd137"];
    text.value = await (source ? unpacked(source) : byName(name)).catch(() => {
      status.textContent = "The link is damaged: its text cannot be read.";
      return byName("dd137");
    });
    wavelet.replaceChildren(new Option(state.get("wavelet") ?? name));
    valid = false;
    shown = "";
    select(TABS.find(({ name: own }) => own === state.get("tab")) ?? tab);
    await check();
  };
  start().catch((error) => fail(new Error(`The compiler cannot start: ${error.message}`)));
})();
