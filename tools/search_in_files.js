// The search of the documentation where its pages are opened as files: such a page may start no worker and read no other
// file, but it may load scripts. What the theme takes for its worker loads the words of all pages as one.
if (window.location.protocol === "file:") {
  window.Worker = function () {
    const worker = this;
    let index = null;
    const pages = {};

    const load = (name, then) => {
      const script = document.createElement("script");
      script.src = `${base_url}/search/${name}`;
      script.onload = then;
      script.onerror = () => {
        const place = document.getElementById("mkdocs-search-results");
        if (place) place.textContent = `The search does not work: ${script.src} cannot be read.`;
      };
      document.head.append(script);
    };
    const read = () => {
      const data = window.search_data;
      index = lunr(function () {
        this.field("title");
        this.field("text");
        this.ref("location");
        for (const page of data.docs) {
          this.add(page);
          pages[page.location] = { ...page, summary: page.text.substring(0, 200) };
        }
      });
      worker.onmessage({ data: { config: data.config } });
      worker.onmessage({ data: { allowSearch: true } });
    };

    worker.postMessage = (message) => {
      // Of all pages only that with the results asks for anything.
      if (message.init && document.getElementById("mkdocs-search-query")) {
        load("lunr.js", () => load("search_data.js", read));
      } else if (message.query && index) {
        worker.onmessage({ data: { results: index.search(message.query).map((found) => pages[found.ref]) } });
      }
    };
  };
}
