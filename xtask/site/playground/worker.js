// The worker of the playground, after lifting.js: answers requests one by one.
let lifting;
self.onmessage = ({ data: { wasm, id, request, data } }) => {
  if (wasm) {
    // Pages of the file system may not send modules.
    lifting = new Lifting(new WebAssembly.Module(wasm));
    return;
  }
  try {
    const { reply, bytes } = lifting.ask(request, data);
    self.postMessage({ id, reply, bytes }, [bytes.buffer]);
  } catch (error) {
    self.postMessage({ id, error: error.message });
  }
};
