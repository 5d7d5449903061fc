// Search in pages that are opened as files: browsers start no workers there. A worker is then a script in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.frame = frame.contentWindow;
      window.addEventListener("message", (event) => {
        if (event.source !== this.frame) return;
        const copy = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(copy);
        if (this.onmessage) this.onmessage(copy);
      });
      this.ready = new Promise((resolve) => {
        const start = this.frame.document.createElement("script");
        // What the worker posts goes to the page; scripts that it asks for are put beside it, one after the other.
        start.textContent =
          "var page = parent; window.postMessage = (data) => page.postMessage(data, '*');" +
          "window.importScripts = (...urls) => urls.reduce((last, url) => last.then(() => new Promise((done) => {" +
          "const script = document.createElement('script'); script.src = url; script.onload = done; document.body.appendChild(script); })), Promise.resolve());";
        const script = this.frame.document.createElement("script");
        script.src = url;
        script.onload = resolve;
        this.frame.document.body.append(start, script);
      });
    }
    postMessage(data) {
      this.ready.then(() => this.frame.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.frameElement.remove();
    }
  };
}
