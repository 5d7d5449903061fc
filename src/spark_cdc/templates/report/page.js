// What the report does in the browser: filters, and an entity's own part when its link is followed. Values of data are set as text, never as HTML.
(async () => {
  "use strict";

  const COUNTED = ["committed", "squashed"];
  const SHOWN_LOADS = 30;
  const [DATE_STEP, TIME_STEP] = [76, 108]; // pixels of a load whose business time can be read below it
  const LEGEND_STEP = 120;
  const DAY = 86400000;
  const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
  const SIGNS = { refused: "▲", missing: "!" };
  const find = (id) => document.getElementById(id);

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  const data = await unpack(find("data").textContent);
  const entities = new Map(data.entities.map((one) => [one.name, one]));

  // ---- words and figures

  const number = (value) => (value == null ? "" : value.toLocaleString("en-US"));
  const counted = (count, what) => `${number(count)} ${what}${count === 1 ? "" : "s"}`;
  const instant = (seconds) => (seconds == null ? "" : `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`);

  function bytesText(bytes) {
    const units = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]];
    const [unit, size] = units.find(([, size]) => bytes >= size) ?? ["bytes", 1];
    return bytes == null ? "" : `${size === 1 ? bytes : (bytes / size).toFixed(1)} ${unit}`;
  }

  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value != null) made.setAttribute(name, value);
    made.append(...children.filter((child) => child != null));
    return made;
  }

  // A table; columns are [heading, class or null, function from a row to text or node].
  function table(columns, rows) {
    const cell = (tag, kind, what, more = {}) => make(tag, { class: kind, ...more }, what ?? "");
    const head = make("tr", {}, ...columns.map(([heading, kind]) => cell("th", kind, heading, { scope: "col" })));
    const body = rows.map((row) => make("tr", {}, ...columns.map(([, kind, value]) =>
      kind === "text" ? make("td", {}, make("div", { class: kind }, value(row) ?? "")) : cell("td", kind, value(row)))));
    return make("div", { class: "wide" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
  }

  // ---- loads within the period of the filters

  function isWithin(time) {
    const [from, to] = [find("from-filter").value, find("to-filter").value];
    const day = time.slice(0, 10);
    return !day || ((!from || day >= from) && (!to || day <= to));
  }

  function loadsOf(entity) {
    const columns = Object.entries(entity.loads ?? {});
    const count = entity.loads?.time?.length ?? 0;
    const rows = [];
    for (let place = 0; place < count; place += 1) {
      const row = Object.fromEntries(columns.map(([name, values]) => [name, values[place]]));
      row.kind = data.kinds[row.kind];
      row.isCounted = COUNTED.includes(row.kind);
      row.guards = Object.entries(entity.guards ?? {}).map(([guard, shares]) => [guard, shares[place]]);
      row.rules = Object.entries(entity.rules ?? {}).map(([rule, { action, judged, broken }]) => ({ rule, action, judged: judged[place], broken: broken[place] }));
      if (isWithin(row.time)) rows.push(row);
    }
    return rows;
  }

  function figuresOf(entity) {
    const figures = { loads: 0, rows_in: 0, I: 0, U: 0, D: 0, rejected: 0, refused: 0 };
    for (const row of loadsOf(entity)) {
      if (row.kind === "refused") figures.refused += 1;
      if (!row.isCounted) continue;
      figures.loads += 1;
      for (const name of ["rows_in", "I", "U", "D", "rejected"]) figures[name] += row[name] ?? 0;
    }
    figures.missing = (entity.missing ?? []).filter(isWithin).length;
    return figures;
  }

  // ---- charts

  const utc = (time) => Date.parse(`${time.slice(0, 10)}T00:00:00Z`);
  const dayText = (at) => new Date(at).toISOString().slice(0, 10);

  // One row a business time, oldest first: what counts, and how often it was refused.
  function chartRows(loads) {
    const byTime = new Map();
    for (const row of loads.filter((one) => one.isCounted || one.kind === "refused")) {
      const found = byTime.get(row.time) ?? { time: row.time, refused: 0 };
      if (row.isCounted) Object.assign(found, row);
      else found.refused += 1;
      byTime.set(row.time, found);
    }
    return [...byTime.values()];
  }

  // The business time is taken as UTC: only the source knows when its day ends.
  function withLag(rows) {
    const timed = rows.filter((row) => row.isCounted && row.arrived != null);
    const lags = timed.map(({ time, arrived }) => arrived - Date.parse(`${time.replace(" ", "T")}${time.length > 10 ? "" : "T00:00:00"}Z`) / 1000);
    const [unit, seconds] = Math.max(...lags) > 3 * 86400 ? ["days", 86400] : ["hours", 3600];
    return [timed.map(({ time }, place) => ({ time, lag: Math.round((100 * lags[place]) / seconds) / 100 })), unit];
  }

  function calendarDays(loads, missing) {
    const status = new Map();
    for (const row of loads) {
      const day = row.time.slice(0, 10);
      if (row.isCounted) status.set(day, "loaded");
      else if (row.kind === "refused" && !status.has(day)) status.set(day, "refused");
    }
    for (const time of missing) if (status.get(time.slice(0, 10)) !== "refused") status.set(time.slice(0, 10), "missing");
    const days = [...status.keys()].sort();
    if (!days.length) return [];
    const found = [];
    const monday = (at) => at - ((new Date(at).getUTCDay() + 6) % 7) * DAY;
    const first = Math.min(monday(utc(days[0])), monday(utc(days.at(-1))) - 11 * 7 * DAY);
    for (let at = first; at < monday(utc(days.at(-1))) + 7 * DAY; at += DAY) {
      const day = dayText(at);
      const what = status.get(day) ?? "no load";
      found.push({ day, week: dayText(monday(at)), weekday: WEEKDAYS[new Date(at).getUTCDay()], status: what, sign: SIGNS[what] ?? "" });
    }
    return found;
  }

  function guardRows(loads) {
    return loads.filter((row) => row.isCounted).flatMap((row) =>
      row.guards.filter(([, used]) => used != null).map(([guard, used]) => ({ time: row.time, guard, used })));
  }

  function ruleRows(loads) {
    return loads.filter((row) => row.isCounted).flatMap((row) =>
      row.rules.filter(({ judged }) => judged).map(({ rule, judged, broken }) => ({ time: row.time, rule, rate: 1 - broken / judged })));
  }

  // Charts, to be ended when another entity is shown.
  let drawn = [];

  function chart(described, name, values, unit) {
    const place = make("div", { class: "chart", role: "img", "aria-label": `${described.title}. ${described.says} The figures are in the table of loads.` });
    const caption = make("figcaption", {}, described.title);
    if (unit) caption.append(" ", make("small", {}, unit));
    const figure = make("figure", { "data-chart": described.name }, caption, place);
    figure.draw = async () => {
      const { config, width } = described.vega_lite;
      const step = values.some(({ time }) => time?.length > 10) ? TIME_STEP : DATE_STEP;
      // few loads need not fill the width, and each of them is named
      const fits = width === "container" && new Set(values.map(({ time }) => time)).size * step < place.clientWidth - 50;
      // names of guards and rules are long: as many beside each other as there is room for
      const isNamed = ["guards", "rules"].includes(described.name);
      const legend = { ...config.legend, ...(isNamed && { columns: Math.max(1, Math.floor(place.clientWidth / LEGEND_STEP)) }) };
      const drawing = { ...described.vega_lite, width: fits ? { step } : width, config: { ...config, legend }, datasets: { [name]: values } };
      drawn.push(await vegaEmbed(place, drawing, { actions: false, renderer: "svg" }));
      place.scrollLeft = place.scrollWidth; // the newest days
    };
    return figure;
  }

  function chartsOf(entity, loads) {
    const rows = chartRows(loads);
    const [lags, lagUnit] = withLag(rows);
    const tables = { guards: ["guards", guardRows(loads)], rules: ["rules", ruleRows(loads)], calendar: ["days", calendarDays(loads, (entity.missing ?? []).filter(isWithin))], lag: ["loads", lags] };
    const has = {
      troubles: rows.some((row) => row.rejected || row.refused),
      bytes: rows.some((row) => row.bytes != null),
      files: rows.some((row) => row.files != null),
    };
    return data.charts
      .filter(({ name }) => has[name] !== false)
      .map((described) => {
        const [name, values] = tables[described.name] ?? ["loads", rows];
        return values.length ? chart(described, name, values, (described.unit ?? "").replace("LAG", lagUnit)) : null;
      })
      .filter(Boolean);
  }

  // ---- an entity's own part

  function attentionOf(entity) {
    if (!entity.attention) return [];
    return [
      make("h3", {}, "What needs attention"),
      table([["What", "kind", (one) => one.kind], ["Business time", "time", (one) => one.time], ["Which", "text", (one) => one.text]], entity.attention),
    ];
  }

  function loadsTable(loads) {
    const near = (row) => row.guards.filter(([, used]) => used >= 0.8).map(([guard, used]) => `${Math.round(100 * used)}% of ${guard}`);
    const note = (row) => [row.kind === "committed" ? "" : row.kind, row.guard, row.change, ...near(row)].filter(Boolean).join("; ");
    const columns = [
      ["Business time", "time", (row) => row.time], ["Load", "time", (row) => row.load], ["Type", null, (row) => row.type], ["Note", "remark", note],
      ...[["Rows in", "rows_in"], ["I", "I"], ["U", "U"], ["D", "D"], ["N", "N"], ["X", "X"], ["Rejected", "rejected"], ["Rows current", "current"], ["Seconds", "seconds"], ["Files", "files"]]
        .map(([heading, name]) => [heading, "figure", (row) => number(row[name])]),
      ["Bytes", "figure", (row) => bytesText(row.bytes)], ["Committed", "time", (row) => instant(row.arrived)],
    ];
    const newest = loads.toReversed();
    const place = make("div", {}, table(columns, newest.slice(0, SHOWN_LOADS)));
    if (newest.length <= SHOWN_LOADS) return [place];
    const button = make("button", { type: "button" }, `All ${number(newest.length)} loads`);
    button.addEventListener("click", () => {
      place.replaceChildren(table(columns, newest));
      button.remove();
    });
    return [place, button];
  }

  function refusedOf(loads) {
    const refused = loads.filter((row) => row.kind === "refused").reverse();
    if (!refused.length) return [];
    return [
      make("h3", {}, "Refused loads"),
      table([["Business time", "time", (row) => row.time], ["Guard", "kind", (row) => row.guard], ["Message", "text", (row) => row.message]], refused),
    ];
  }

  // Of each rule what it found in the last load that it judged, and over all loads shown.
  function rulesOf(entity, loads) {
    const found = Object.keys(entity.rules ?? {}).map((name) => {
      const judging = loads.filter((row) => row.isCounted).flatMap((row) => row.rules.filter(({ rule, judged }) => rule === name && judged));
      const sum = (what) => judging.reduce((total, one) => total + one[what], 0);
      return { ...judging.at(-1), name, all: sum("judged"), bad: sum("broken") };
    }).filter(({ all }) => all);
    if (!found.length) return [];
    const rate = (judged, broken) => `${(Math.floor(10000 * (1 - broken / judged)) / 100).toFixed(2)}%`;
    return [
      make("h3", {}, "Rules"),
      table([
        ["Rule", null, (one) => one.name], ["Action", "kind", (one) => one.action], ["Rows of the last load", "figure", (one) => number(one.judged)],
        ["Broke it", "figure", (one) => number(one.broken)], ["Pass rate", "figure", (one) => rate(one.judged, one.broken)],
        ["Rows of all loads", "figure", (one) => number(one.all)], ["Broke it", "figure", (one) => number(one.bad)], ["Pass rate", "figure", (one) => rate(one.all, one.bad)],
      ], found),
    ];
  }

  function movesOf(entity) {
    if (!entity.moves) return [];
    const columns = [["What", null, (move) => move.what], ["When", "time", (move) => instant(move.at)], ["Behind", "time", (move) => move.time], ["Which", "text", (move) => move.message]];
    return [make("h3", {}, "Undo, redo, compact, vacuum"), table(columns, entity.moves.toReversed())];
  }

  function changesOf(changes) {
    if (!changes) return [];
    const counts = ["added", "removed", "changed"].map((what) => `${number(changes.counts[what] ?? 0)} ${what}`).join(", ");
    const made = [make("h3", {}, `What the last load changed (${changes.load_id})`), make("p", {}, changes.skipped ?? `Rows: ${counts}.`)];
    const columns = Object.entries(changes.columns).sort((one, other) => other[1] - one[1]);
    if (columns.length) made.push(table([["Column", null, (one) => one[0]], ["Values changed", "figure", (one) => number(one[1])]], columns));
    if (!changes.rows.length) return made;
    const lines = changes.rows.flatMap((row) => row.column_differences.map((one, place) => ({ ...one, row: place ? null : row })));
    const key = (row) => Object.entries(row.keys ?? { key_hash: row.key_hash }).map(([name, value]) => `${name} ${value}`).join(", ");
    const value = (tag, text) => (text === undefined ? make("i", {}, "null") : make(tag, { class: "value" }, text));
    made.push(table([
      ["Row", null, (line) => line.row?.row_difference], ["Key", "value", (line) => line.row && key(line.row)], ["Column", null, (line) => line.column_name],
      ["Before", "value", (line) => value("del", line.value_before)], ["After", "value", (line) => value("ins", line.value_after)],
    ], lines));
    return made;
  }

  function storageOf(entity) {
    const { files, vacuum, compact, rejects } = entity.details ?? {};
    const made = [];
    if (rejects?.length) {
      made.push(make("h3", {}, "Rejected rows, by column"), table([["Columns", "value", (one) => one.columns], ["Rows", "figure", (one) => number(one.row_count)]], rejects));
    }
    if (!files) return made;
    made.push(
      make("h3", {}, "Files"),
      table([
        ["Table", null, (one) => one.table], ["Of loads", null, (one) => (one.is_needed ? "that count" : "that do not count")],
        ["Files", "figure", (one) => number(one.files)], ["Bytes", "figure", (one) => bytesText(one.bytes)],
      ], files),
      make("p", {}, vacuum.loads
        ? `spark-cdc vacuum --select ${entity.name} would free ${bytesText(vacuum.bytes)} in ${counted(vacuum.files, "file")}.`
        : "spark-cdc vacuum would free nothing yet: what does not count is kept for a week."),
      make("p", {}, compact
        ? `spark-cdc compact --select ${entity.name} would squash ${number(compact)} loads into two.`
        : "spark-cdc compact would squash nothing: it takes more than two loads that are 30 days older than the last."),
    );
    return made;
  }

  function headOf(entity, loads) {
    const figures = figuresOf(entity);
    const facts = [
      ["Load type", entity.load_type], ["Expected", entity.expect], ["Rows current", number(entity.rows ?? 0)], ["Loads that count", number(entity.committed_loads ?? 0)],
      ["Loads in this report", number(figures.loads)], ["Refused", number(figures.refused)], ["Rejected rows", number(figures.rejected)], ["Dates missing", number(figures.missing)],
      ["Last load", loads.findLast((row) => row.isCounted)?.time],
      ["Last checkpoint", entity.checkpoint && `${entity.checkpoint}, ${counted(entity.log_loads ?? 0, "load")} with ${counted(entity.log_rows ?? 0, "row")} since`],
    ];
    return make("dl", {}, ...facts.filter(([, value]) => value).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  }

  async function show(entity) {
    drawn.forEach((one) => one.finalize());
    drawn = [];
    const part = find("entity");
    part.hidden = !entity;
    find("attention").hidden = find("entities").hidden = Boolean(entity);
    if (!entity) return;
    const loads = loadsOf(entity);
    const charts = chartsOf(entity, loads);
    part.replaceChildren(
      make("p", { class: "back" }, make("a", { href: "#main" }, "← all entities")),
      make("h2", { id: "entity-title", tabindex: "-1" }, entity.name),
      headOf(entity, loads),
      ...attentionOf(entity),
      make("div", { class: "charts" }, ...charts),
      ...rulesOf(entity, loads),
      ...refusedOf(loads),
      ...changesOf(entity.details?.changes),
      ...storageOf(entity),
      ...movesOf(entity),
      make("h3", {}, "Loads"),
      ...loadsTable(loads),
    );
    for (const figure of charts) await figure.draw();
  }

  // ---- where we are, and filters

  const opened = () => entities.get(decodeURIComponent(location.hash.replace(/^#entity\//, "")));

  let next = null; // what gets the focus, if it is not the title

  async function follow() {
    const entity = opened();
    await show(entity);
    document.body.dataset.shown = entity?.name ?? "";
    window.scrollTo(0, 0);
    find(next ?? (entity ? "entity-title" : "attention-title")).focus({ preventScroll: true });
    next = null;
  }

  async function filter() {
    const part = find("entity-filter").value.trim().toLowerCase();
    const kind = find("kind-filter").value;
    for (const row of document.querySelectorAll("tr[data-entity]")) {
      row.hidden = !row.dataset.entity.toLowerCase().includes(part) || !isWithin(row.dataset.time ?? "") || Boolean(kind && row.dataset.kind && row.dataset.kind !== kind);
      const figures = row.querySelector("[data-figure]") && figuresOf(entities.get(row.dataset.entity));
      for (const cell of figures ? row.querySelectorAll("[data-figure]") : []) cell.textContent = number(figures[cell.dataset.figure]);
    }
    const [from, to] = [find("from-filter").value, find("to-filter").value];
    find("period").textContent = from || to ? `Business dates ${[from && `from ${from}`, to && `to ${to}`].filter(Boolean).join(" ")}.` : "";
    if (opened()) await show(opened());
  }

  // Not at each letter: with many entities it takes a moment.
  let waiting = 0;
  find("filters").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 150);
  });
  find("filters").addEventListener("reset", () => setTimeout(filter));
  find("filters").addEventListener("submit", (event) => event.preventDefault());
  find("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && event.target.tagName !== "INPUT") {
      event.preventDefault();
      if (!opened()) return find("entity-filter").focus();
      next = "entity-filter";
      location.hash = "#main";
    } else if (event.key === "Escape" && opened()) {
      location.hash = "#main";
    }
  });
  window.addEventListener("hashchange", follow);
  await follow();
  document.body.dataset.ready = "true";
})();
