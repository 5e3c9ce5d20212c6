// Search in pages from the file system, where browsers have no workers of files: the worker's script runs in a hidden
// frame. Workers of blobs, as in the playground, are the browser's own.
if (location.protocol === "file:") {
  const OfBlobs = Worker;
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      if (String(url).startsWith("blob:")) return new OfBlobs(url);
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      window.addEventListener("message", ({ source, data }) => {
        if (source === this.inner) this.dispatchEvent(new MessageEvent("message", { data }));
      });
      this.inner.document.write("<script>postMessage = (data) => parent.postMessage(data, '*')</script>");
      this.inner.document.write(`<script src="${url}"></script>`);
      this.inner.document.close();
      this.loaded = new Promise((resolve) => (this.inner.onload = resolve));
    }
    postMessage(data) {
      this.loaded.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
