// Tests of the website in a real browser: node test.mjs SITE LIFTC [FOLDER for screenshots]
//
// Needs Chromium at /usr/bin/chromium (or CHROMIUM), and the packages of package.json.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
// The packages may be installed elsewhere: NODE_PATH holds for `require` only.
const require = createRequire(import.meta.url);
const { chromium } = require("playwright-core");
const AXE = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [site, liftc, shots] = process.argv.slice(2);
const root = path.resolve(import.meta.dirname, "../../..");
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "lifting-browser-"));
const PICTURE = path.join(root, "tests/data/chelsea.png");
const WAVELETS = ["dd137", "legall53", "cdf97", "cdf1_1", "db4", "sym5", "coif2", "bior6_8", "s_transform", "fidelity"];
// A text with two errors, as the address has it.
const WRONG = "K08sS81JLVEoV6jmUgCClPzcxMw8haLUxBxrsEB-SoqCri2IijaIhQillqXmKWjbKuTll2Rk5qVHG8Yq6CuYWHPVcgEA";
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

// The site, served without compression or types of WebAssembly.
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" };
const server = http.createServer((request, response) => {
  const file = path.join(site, decodeURIComponent(new URL(request.url, "http://localhost").pathname));
  if (!fs.existsSync(file) || !fs.statSync(file).isFile()) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": TYPES[path.extname(file)] ?? "application/octet-stream" });
  fs.createReadStream(file).pipe(response);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const served = `http://127.0.0.1:${server.address().port}`;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});

/** A page that fails the tests on errors of its console and on requests to other hosts. */
const open = async (url, options = {}) => {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.faults = [];
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
  page.on("pageerror", (error) => page.faults.push(String(error)));
  page.on("request", (request) => {
    if (/^https?:/.test(request.url()) && !request.url().startsWith(served)) page.faults.push(request.url());
  });
  await page.goto(url);
  return page;
};
const close = async (page) => {
  assert.deepEqual(page.faults, []);
  await page.context().close();
};
const ready = (page) => page.locator("#pg-status", { hasText: "No errors" }).waitFor();
const done = (page) => page.locator("#pg-panel[aria-busy=false]").waitFor();
const chooseTab = async (page, name) => {
  await page.getByRole("tab", { name, exact: true }).click();
  await done(page);
};
const sh = (...words) => execFileSync(liftc, words, { encoding: "utf8", maxBuffer: 1 << 28 });

const tests = {
  async "the table of wavelets sorts and filters"() {
    const page = await open(`${served}/wavelets/index.html`);
    const names = () => page.locator(".wavelets tbody tr:not([hidden]) td:first-child").allTextContents();
    const all = await names();
    assert.equal(all.length, JSON.parse(sh("list", "--json")).length);
    const head = page.locator(".wavelets th", { hasText: "Wavelet" });
    const order = new Intl.Collator("en", { numeric: true }).compare;
    await head.getByRole("button").click();
    assert.equal(await head.getAttribute("aria-sort"), "ascending");
    assert.deepEqual(await names(), all.toSorted(order));
    await head.getByRole("button").press("Enter");
    assert.equal(await head.getAttribute("aria-sort"), "descending");
    assert.deepEqual(await names(), all.toSorted((a, b) => order(b, a)));
    await page.getByLabel("Name").fill("bior4.4");
    assert.deepEqual(await names(), ["bior4_4"]);
    await close(page);
  },

  async "a wrong step has its error under it, and mended it becomes kernels"() {
    const page = await open(`${served}/playground.html#name=legall53`);
    await ready(page);
    const text = page.getByRole("textbox", { name: "Text of the wavelet" });
    const good = await text.inputValue();
    const step = good.split("\n").find((line) => line.includes("odd"));
    const bad = good.replace(step, step.replace("even", "odd"));
    assert.notEqual(bad, good);
    await text.fill(bad);
    const error = page.locator("#pg-errors li");
    await error.first().waitFor();
    const file = path.join(scratch, "bad.lift");
    fs.writeFileSync(file, bad);
    const [{ diagnostics }] = JSON.parse(failing("check", "--json", file));
    assert.equal(await error.count(), diagnostics.length);
    const { code, message, help, places: [{ line: at }] } = diagnostics[0];
    for (const part of [code, message, help ?? "", `Line ${at}`]) {
      assert.ok((await error.first().textContent()).includes(part), part);
    }
    // The mark has the text of the place, which the button selects.
    const { line, column, end_column: end } = diagnostics[0].places[0];
    const subject = bad.split("\n")[line - 1].slice(column - 1, end - 1);
    assert.equal((await page.locator("#pg-colours .pg-error").allTextContents()).join(""), subject);
    await error.getByRole("button").first().click();
    const selected = await text.evaluate((field) => field.value.slice(field.selectionStart, field.selectionEnd));
    assert.equal(selected, subject);
    const href = await error.getByRole("link").first().getAttribute("href");
    const [target, anchor] = href.split("#");
    assert.ok(fs.readFileSync(path.join(site, target), "utf8").includes(`id="${anchor}"`), href);

    await chooseTab(page, "CUDA");
    assert.ok((await page.locator("#pg-panel").textContent()).includes("mend them"));
    await text.fill(good);
    await ready(page);
    await page.locator("#pg-panel", { hasText: "__global__" }).waitFor();
    const own = path.join(scratch, "legall53.lift");
    fs.writeFileSync(own, good);
    const shown = await page.locator("#pg-panel .pg-output").textContent();
    assert.ok(emitted(own, "cuda") === shown);
    const [download] = await Promise.all([
      page.waitForEvent("download"), page.getByRole("button", { name: "Save legall53.cu" }).click()]);
    assert.equal(fs.readFileSync(await download.path(), "utf8"), shown);
    await close(page);
  },

  async "a dropped picture has the PSNR of liftc"() {
    const page = await open(`${served}/playground.html#name=cdf97&tab=data`);
    await ready(page);
    await page.locator("#pg-panel canvas").first().waitFor();
    const bytes = [...fs.readFileSync(PICTURE)];
    const data = await page.evaluateHandle((bytes) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(bytes)], "chelsea.png", { type: "image/png" }));
      return transfer;
    }, bytes);
    await page.dispatchEvent(".pg-drop", "drop", { dataTransfer: data });
    await page.locator("figcaption", { hasText: "chelsea.png" }).waitFor();
    const slider = page.getByLabel("Threshold");
    await slider.focus();
    for (let i = 0; i < 40; i++) await page.keyboard.press("ArrowRight");
    const { psnr, zeros, count } = byLiftc("cdf97", 3, 20);
    const share = (100 * zeros / count).toFixed(2);
    await page.locator(".pg-result", { hasText: `PSNR ${psnr.toFixed(2)} dB; ${share} % of ${count} f32` }).waitFor();
    await close(page);
  },

  async "a text of numbers is a signal"() {
    const page = await open(`${served}/playground.html#name=dd137&tab=data`);
    await ready(page);
    await page.locator("#pg-panel canvas").first().waitFor();
    const files = (contents) => page.setInputFiles("#pg-file",
      { name: "signal.txt", mimeType: "text/plain", buffer: Buffer.from(contents) });
    await files(Array.from({ length: 500 }, (_, i) => i % 37).join("\n"));
    await page.locator(".pg-result", { hasText: "PSNR ∞: the reconstruction is exact" }).waitFor();
    assert.ok((await page.locator(".pg-views img").getAttribute("alt")).includes("signal.txt"));
    await files("1 2 x");
    await page.locator(".pg-result", { hasText: "“x” is not a number" }).waitFor();
    await files("1 2.5 3 4");
    await page.locator(".pg-result", { hasText: "needs whole numbers" }).waitFor();
    await close(page);
  },

  async "the address keeps text and tab, and damaged ones say so"() {
    const page = await open(`${served}/playground.html`);
    await ready(page);
    const own = "// mine: φ\nwavelet mine {\n    domain real;\n    odd -= even[0];\n    even += odd[0]/2;\n}\n";
    await page.locator("#pg-text").fill(own);
    await page.locator("#pg-status", { hasText: "mine" }).waitFor();
    await chooseTab(page, "C");
    await page.waitForFunction(() => location.hash.includes("tab=c"));
    const again = await open(page.url());
    await again.locator("#pg-status", { hasText: "mine (real" }).waitFor();
    assert.equal(await again.locator("#pg-text").inputValue(), own);
    await again.locator("#pg-panel", { hasText: "liftc mine.lift --emit c" }).waitFor();
    await close(again);
    const damaged = await open(`${served}/playground.html#text=abc`);
    await ready(damaged);
    await close(damaged);
    await close(page);
  },

  async "the keyboard alone works"() {
    const page = await open(`${served}/playground.html#name=legall53`);
    await ready(page);
    const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);
    const tabTo = async (wanted) => {
      for (let i = 0; i < 200; i++) {
        if ((await focused()) === wanted) return;
        await page.keyboard.press("Tab");
      }
      assert.fail(`Tab never reaches ${wanted}`);
    };
    await tabTo("pg-examples");
    await page.keyboard.type("cdf97");
    await page.keyboard.press("Enter");
    await page.locator("#pg-status", { hasText: "cdf97" }).waitFor();
    await tabTo("pg-text");
    await page.keyboard.press("Control+End");
    await page.keyboard.type("wavelet");
    await page.locator("#pg-errors li").first().waitFor();
    // The editor lets go of the focus.
    await page.keyboard.press("Tab");
    assert.match(await focused(), /^Line \d+$/);
    await page.keyboard.press("Enter");
    assert.equal(await focused(), "pg-text");
    await page.keyboard.press("Control+End");
    for (let i = 0; i < "wavelet".length; i++) await page.keyboard.press("Backspace");
    await ready(page);
    await tabTo("pg-tab-about");
    for (const next of ["figures", "window", "cuda", "c"]) {
      await page.keyboard.press("ArrowRight");
      assert.equal(await focused(), `pg-tab-${next}`);
    }
    await page.locator("#pg-panel", { hasText: "liftc cdf97.lift --emit c" }).waitFor();
    await page.keyboard.press("End");
    assert.equal(await focused(), "pg-tab-data");
    await page.locator("#pg-panel canvas").first().waitFor();
    await close(page);
  },

  async "kernels equal those of liftc, letter for letter"() {
    const page = await open(`${served}/playground.html`);
    await ready(page);
    for (const name of WAVELETS) {
      const text = sh("show", "--text", name);
      const file = path.join(scratch, `${name}.lift`);
      fs.writeFileSync(file, text);
      await page.locator("#pg-text").fill(text);
      await page.locator("#pg-status", { hasText: `No errors: ${name} (` }).waitFor();
      for (const [title, target] of [["CUDA", "cuda"], ["C", "c"], ["Rust", "rust"], ["OpenCL", "opencl"]]) {
        await chooseTab(page, title);
        await page.locator(".pg-command", { hasText: `liftc ${name}.lift --emit ${target}` }).waitFor();
        const shown = await page.locator("#pg-panel .pg-output").textContent();
        assert.ok(emitted(file, target) === shown, `${name} as ${target}`);
      }
    }
    await close(page);
  },

  async "the page works from the file system"() {
    const page = await open(`${pathToFileURL(path.resolve(site))}/playground.html#name=dd137&tab=data`);
    await ready(page);
    await page.locator(".pg-result", { hasText: "PSNR ∞" }).waitFor();
    await close(page);
  },

  async "contrast and names meet WCAG's AA, on desks and phones, in light and dark"() {
    const pages = ["index.html", "wavelets/index.html", "playground.html#name=cdf97",
      "playground.html#name=cdf97&tab=figures", "playground.html#name=cdf97&tab=c",
      "playground.html#name=cdf97&tab=data", `playground.html#tab=about&text=${WRONG}`];
    const faults = [];
    for (const colorScheme of ["light", "dark"]) {
      for (const [device, viewport] of [["desk", DESKTOP], ["phone", PHONE]]) {
        for (const address of pages) {
          const page = await open(`${served}/${address}`, { colorScheme, viewport });
          if (address.includes(WRONG)) await page.locator("#pg-errors li").first().waitFor();
          else if (address.startsWith("playground")) await ready(page);
          if (address.startsWith("playground")) await done(page);
          await page.evaluate(AXE);
          const { violations } = await page.evaluate(() =>
            axe.run(document.querySelector(".md-content"), { runOnly: ["wcag2a", "wcag2aa"] }));
          const place = `${address}, ${colorScheme}, ${device}`;
          const found = ({ id, nodes }) => nodes.map((node) => `${place}: ${id}: ${node.html.slice(0, 150)}`);
          faults.push(...violations.flatMap(found));
          // Nothing is wider than the page.
          const width = await page.evaluate(() => document.documentElement.scrollWidth);
          if (width > viewport.width) faults.push(`${place}: ${width} px wide`);
          if (shots) {
            const name = `${address.replace(/[^a-z]+/gi, "-").slice(0, 40)}-${colorScheme}-${device}.png`;
            await page.screenshot({ path: path.join(shots, name), fullPage: device === "phone" });
          }
          await close(page);
        }
      }
    }
    assert.deepEqual(faults, []);
  },
};

/** Text of the file in a language that liftc writes for a `.lift` file. */
function emitted(file, target) {
  const folder = path.join(scratch, target);
  sh(file, "--emit", target, "-o", folder);
  const extension = { cuda: "cu", c: "c", rust: "rs", opencl: "opencl.c" }[target];
  return fs.readFileSync(path.join(folder, `${path.basename(file, ".lift")}.${extension}`), "utf8");
}

/** Output of a command that fails. */
function failing(...words) {
  try {
    sh(...words);
  } catch (error) {
    return error.stdout;
  }
  return assert.fail(`${words} did not fail`);
}

/** PSNR and zeros of the test picture by liftc: transform, removal of small details, and inverse. */
function byLiftc(wavelet, levels, threshold) {
  const [coefficients, back] = ["c.npy", "back.ppm"].map((name) => path.join(scratch, name));
  sh("transform", PICTURE, "-w", wavelet, "-l", String(levels), "-o", coefficients, "--quiet");
  const [{ levels: gains }] = JSON.parse(sh("show", "--json", wavelet));
  const bytes = fs.readFileSync(coefficients);
  const start = 10 + bytes.readUInt16LE(8);
  const shape = bytes.toString("latin1", 10, start).match(/\((\d+), (\d+), (\d+)\)/).slice(1).map(Number);
  const [height, width, channels] = shape;
  // Lengths of the low bands.
  const halves = (length, level) => { for (let i = 0; i < level; i++) length = Math.ceil(length / 2); return length; };
  let zeros = 0;
  const count = height * width * channels;
  for (let at = 0; at < count; at++) {
    const [y, x] = [Math.floor(at / channels / width), Math.floor(at / channels) % width];
    const value = bytes.readFloatLE(start + 4 * at);
    let level = 1;
    while (level <= levels && y < halves(height, level) && x < halves(width, level)) level++;
    if (level <= levels) {
      const { low, high } = gains[level - 1];
      const norm = (isHigh) => (isHigh ? high : low).synthesis_l2;
      const limit = threshold / (norm(y >= halves(height, level)) * norm(x >= halves(width, level)));
      if (Math.abs(value) < limit) bytes.writeFloatLE(0, start + 4 * at);
    }
    zeros += bytes.readFloatLE(start + 4 * at) === 0 ? 1 : 0;
  }
  fs.writeFileSync(coefficients, bytes);
  sh("transform", coefficients, "--inverse", "--force", "-o", back, "--quiet");
  const original = path.join(scratch, "original.ppm");
  sh("transform", PICTURE, "-w", "legall53", "-o", path.join(scratch, "whole.npy"), "--quiet");
  sh("transform", path.join(scratch, "whole.npy"), "--inverse", "-o", original, "--quiet");
  const [a, b] = [original, back].map((file) => fs.readFileSync(file).subarray(-count));
  const error = a.reduce((sum, value, i) => sum + (value - b[i]) ** 2, 0);
  return { psnr: 10 * Math.log10(255 * 255 * count / error), zeros, count };
}

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) continue;
  try {
    await test();
    console.log(`ok: ${name}`);
  } catch (error) {
    failed++;
    console.error(`FAILED: ${name}\n${error.stack}`);
  }
}
await browser.close();
server.close();
fs.rmSync(scratch, { recursive: true });
process.exit(failed ? 1 : 0);
