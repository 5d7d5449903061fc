// Search in pages that are opened as files: browsers start no workers there, so the worker is a script in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      window.addEventListener("message", (event) => {
        if (event.source === this.inner) this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
      const outwards = this.inner.document.createElement("script");
      outwards.textContent = "const page = parent; window.postMessage = (data) => page.postMessage(data, '*');";
      const worker = this.inner.document.createElement("script");
      worker.src = url;
      this.ready = new Promise((resolve) => (worker.onload = resolve));
      this.inner.document.body.append(outwards, worker);
    }
    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
