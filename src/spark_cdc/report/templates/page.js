// The report in the browser: filters, and the page of an entity when its link is followed. Values
// of data are set as text, never as HTML.
(async () => {
  "use strict";

  const ACTIVE = ["active", "compacted"];
  const OPERATIONS = ["inserted", "updated", "deleted", "unchanged", "not supplied"];
  const SHOWN_LOADS = 30;
  const WIDEST_BAR = 44; // pixels: one load is a bar, no wall
  const LEGEND_STEPS = { guards: 130, rules: 130, calendar: 90 }; // pixels of a name in legends that may need two lines
  const WEEK_STEP = 14;
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
  const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
  const instant = (seconds) => (seconds == null ? "" : `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`);
  const dateOf = (load) => load.replace(/^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d))?-.*/, (_, year, month, day, ...time) => `${year}-${month}-${day}${time[0] ? ` ${time.slice(0, 3).join(":")}` : ""}`);

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

  // A name that breaks at its underscores.
  const broken = (name) => name.split("_").flatMap((part, place) => (place ? ["_", make("wbr"), part] : [part]));

  const card = (title, ...children) => make("div", { class: "card" }, title && make("h3", {}, title), ...children);

  function state(level, word) {
    const made = find("overview").querySelector(`.state.${level}`).cloneNode(true);
    made.lastChild.textContent = word;
    return made;
  }

  function command(text) {
    const button = make("button", { type: "button", class: "copy", "aria-label": `Copy the command ${text}` }, "Copy");
    const words = text.split(" ").flatMap((word, place) => [place ? " " : "", make("span", {}, word)]);
    return make("p", { class: "command" }, make("code", {}, ...words), button);
  }

  // A table; columns are [heading, class or null, function from a row to text or node].
  function table(label, columns, rows) {
    const head = columns.map(([heading, kind]) => make("th", { class: kind, scope: "col" }, heading));
    const body = rows.map((row) => make("tr", {}, ...columns.map(([, kind, value]) => make("td", { class: kind }, value(row) ?? ""))));
    const made = make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
    return make("div", { class: "wide", role: "region", "aria-label": `Table: ${label}`, tabindex: "0" }, made);
  }

  // ---- loads within the period of the entity's page

  const period = { from: "", to: "" };
  const isWithin = (time) => !time || ((!period.from || time.slice(0, 10) >= period.from) && (!period.to || time.slice(0, 10) <= period.to));

  function loadsOf(entity) {
    const columns = Object.entries(entity.loads ?? {});
    const count = entity.loads?.time?.length ?? 0;
    const rows = [];
    for (let place = 0; place < count; place += 1) {
      const row = Object.fromEntries(columns.map(([name, values]) => [name, values[place]]));
      row.kind = data.kinds[row.kind];
      row.isActive = ACTIVE.includes(row.kind);
      row.guards = Object.entries(entity.guards ?? {}).map(([guard, shares]) => [guard, shares[place]]);
      row.rules = Object.entries(entity.rules ?? {}).map(([rule, { action, judged, broken }]) => ({ rule, action, judged: judged[place], broken: broken[place] }));
      if (isWithin(row.time)) rows.push(row);
    }
    return rows;
  }

  // ---- charts

  const utc = (time) => Date.parse(`${time.slice(0, 10)}T00:00:00Z`);
  const dayText = (at) => new Date(at).toISOString().slice(0, 10);

  // One row a business time, oldest first: its active load, and how often it was refused.
  function chartRows(loads) {
    const byTime = new Map();
    for (const row of loads.filter((one) => one.isActive || one.kind === "refused")) {
      const found = byTime.get(row.time) ?? { time: row.time, refused: 0 };
      if (row.isActive) Object.assign(found, row);
      else found.refused += 1;
      byTime.set(row.time, found);
    }
    return [...byTime.values()];
  }

  // The business time is taken as UTC: only the source knows when its day ends.
  function withLag(rows) {
    const timed = rows.filter((row) => row.isActive && row.arrived != null);
    const lags = timed.map(({ time, arrived }) => arrived - Date.parse(`${time.replace(" ", "T")}${time.length > 10 ? "" : "T00:00:00"}Z`) / 1000);
    const [unit, seconds] = Math.max(...lags) > 3 * 86400 ? ["days", 86400] : ["hours", 3600];
    return [timed.map(({ time }, place) => ({ time, lag: Math.round((100 * lags[place]) / seconds) / 100 })), unit];
  }

  function calendarDays(loads, missing) {
    const status = new Map();
    for (const row of loads) {
      const day = row.time.slice(0, 10);
      if (row.isActive) status.set(day, "loaded");
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
    return loads.filter((row) => row.isActive).flatMap((row) =>
      row.guards.filter(([, used]) => used != null).map(([guard, used]) => ({ time: row.time, guard, used })));
  }

  function ruleRows(loads) {
    return loads.filter((row) => row.isActive).flatMap((row) =>
      row.rules.filter(({ judged }) => judged).map(({ rule, judged, broken }) => ({ time: row.time, rule, rate: 1 - broken / judged })));
  }

  // Charts, to be ended when another page is shown.
  let drawn = [];

  // All charts of an entity have the same times on their axis.
  function specification({ name, vega_lite: described }, times, width) {
    const config = { ...described.config, bar: { discreteBandSize: { band: Math.min(0.86, (WIDEST_BAR * times.length) / width) } } };
    if (width < 4 * times.length) Object.assign(config, { bar: { discreteBandSize: { band: 1 } }, scale: { bandPaddingInner: 0 } }); // no room for gaps
    if (name in LEGEND_STEPS) config.legend = { ...config.legend, columns: Math.max(1, Math.floor(width / LEGEND_STEPS[name])) };
    if (name === "calendar") return { ...described, config };
    const x = { ...described.encoding.x, scale: { domain: times } };
    return { ...described, config, encoding: { ...described.encoding, x } };
  }

  function chart(described, name, values, unit, times) {
    const place = make("div", { class: "chart", role: "img", "aria-label": `${described.title}. ${described.says} The figures are in the table of loads.` });
    const caption = make("figcaption", {}, described.title);
    if (unit) caption.append(" ", make("span", { class: "unit" }, unit));
    const figure = make("figure", { "data-chart": described.name }, caption, place);
    figure.draw = async () => {
      const width = place.clientWidth;
      // of days the newest weeks that fit
      const weeks = [...new Set(values.map(({ week }) => week))].slice(-Math.floor((width - 50) / WEEK_STEP));
      const shown = name === "days" ? values.filter(({ week }) => weeks.includes(week)) : values;
      drawn.push(await vegaEmbed(place, { ...specification(described, times, width - 50), datasets: { [name]: shown } }, { actions: false, renderer: "svg" }));
    };
    return figure;
  }

  function chartsOf(entity, loads) {
    const rows = chartRows(loads);
    const [lags, lagUnit] = withLag(rows);
    // the scale of a first load would hide all others
    const initial = rows.length > 1 && rows[0].inserted && rows[0].inserted === rows[0].current ? rows[0] : null;
    const changes = rows.map((row) => (row === initial ? { ...row, inserted: null } : row));
    const tables = { changes: ["loads", changes], guards: ["guards", guardRows(loads)], rules: ["rules", ruleRows(loads)], calendar: ["days", calendarDays(loads, (entity.missing ?? []).filter(isWithin))], lag: ["loads", lags] };
    const has = {
      troubles: rows.some((row) => row.rejected || row.refused),
      bytes: rows.some((row) => row.bytes != null),
      files: rows.some((row) => row.files != null),
    };
    const groups = new Map();
    for (const described of data.charts) {
      const [name, values] = tables[described.name] ?? ["loads", rows];
      if (has[described.name] === false || !values.length) continue;
      const figure = chart(described, name, values, (described.unit ?? "").replace("LAG", lagUnit).replace("FIRST", initial ? `without the ${number(initial.inserted)} rows of the first load` : ""), rows.map(({ time }) => time));
      groups.set(described.group, [...(groups.get(described.group) ?? []), figure]);
    }
    return groups;
  }

  // ---- sections of an entity's page: nodes each, none for a section that is left out

  function findingsOf(entity) {
    const nodes = [...find("overview").querySelectorAll(".finding")].filter((one) => one.dataset.entity === entity.name);
    const copies = nodes.map((node) => {
      const copy = node.cloneNode(true);
      copy.hidden = false;
      return copy;
    });
    return copies.length ? [make("ol", { class: "findings" }, ...copies)] : [];
  }

  // Of each rule the result of the last load that it judged, and of all loads shown.
  function rulesOf(entity, loads) {
    const found = Object.keys(entity.rules ?? {}).map((name) => {
      const judging = loads.filter((row) => row.isActive).flatMap((row) => row.rules.filter(({ rule, judged }) => rule === name && judged));
      const sum = (what) => judging.reduce((total, one) => total + one[what], 0);
      return { ...judging.at(-1), name, all: sum("judged"), bad: sum("broken") };
    }).filter(({ all }) => all);
    const rate = (judged, broken) => `${(Math.floor(10000 * (1 - broken / judged)) / 100).toFixed(2)}%`;
    if (!found.length) return [];
    return [card("Rules", table("Rules", [
      ["Rule", "name", (one) => one.name], ["Action", null, (one) => one.action],
      ["Last load", "figure", (one) => number(one.judged)], ["Broken", "figure", (one) => number(one.broken)], ["Pass rate", "figure", (one) => rate(one.judged, one.broken)],
      ["All loads", "figure", (one) => number(one.all)], ["Broken", "figure", (one) => number(one.bad)], ["Pass rate", "figure", (one) => rate(one.all, one.bad)],
    ], found))];
  }

  function refusedOf(loads) {
    const refused = loads.filter((row) => row.kind === "refused").reverse();
    if (!refused.length) return [];
    return [card("Refused loads", table("Refused loads", [["Business time", "time", (row) => row.time], ["Guard", "name", (row) => row.guard], ["Message", "text", (row) => row.message]], refused))];
  }

  function changesOf(changes) {
    if (!changes) return [];
    const counts = ["added", "removed", "changed"].map((what) => `${number(changes.counts[what] ?? 0)} ${what}`).join(", ");
    const nodes = [make("p", {}, changes.skipped ?? `Load ${changes.load_id}: ${counts}.`)];
    const columns = Object.entries(changes.columns).sort((one, other) => other[1] - one[1]);
    if (columns.length) nodes.push(table("Changed values by column", [["Column", "name", (one) => one[0]], ["Changed values", null, (one) => number(one[1])]], columns));
    const lines = changes.rows.flatMap((row) => row.column_differences.map((one, place) => ({ ...one, row: place ? null : row })));
    const key = (row) => Object.entries(row.keys ?? { key_hash: row.key_hash }).map(([name, value]) => `${name} ${value}`).join(", ");
    const value = (tag, text) => (text === undefined ? make("i", {}, "null") : make(tag, {}, text));
    if (lines.length) nodes.push(table("Changed rows", [
      ["Row", null, (line) => line.row?.row_difference], ["Key", "value", (line) => line.row && key(line.row)], ["Column", "name", (line) => line.column_name],
      ["Before", "value before", (line) => value("del", line.value_before)], ["After", "value after", (line) => value("ins", line.value_after)],
    ], lines));
    return [card("Last load", ...nodes)];
  }

  function rejectsOf(entity, loads) {
    const total = loads.reduce((sum, row) => sum + (row.isActive ? row.rejected ?? 0 : 0), 0);
    const { rejects, rejected_rows: rows = [] } = entity.details ?? {};
    if (!total && !rejects?.length) return [];
    const nodes = [];
    if (rejects?.length) nodes.push(card("By column", table("Rejected rows by column", [["Columns", "name", (one) => one.columns], ["Rejected rows", null, (one) => number(one.row_count)]], rejects)));
    if (rows.length) nodes.push(rejectedRows(entity, rows, loads));
    else nodes.push(card(null, make("p", {}, `${counted(total, "row")} rejected in these loads. ${entity.name}_rejects holds them; a report with details shows them here:`), command(`spark-cdc report --details --select ${entity.name}${entity.options ?? ""}`)));
    return nodes;
  }

  function rejectedRows(entity, rows, loads) {
    const named = Object.fromEntries(loads.map((row) => [row.load, row.time]));
    const columns = [
      ["Business time", "time", (row) => named[row.load] ?? dateOf(row.load)], ["Columns", "name", (row) => row.columns], ["Rules", "name", (row) => row.rules],
      ["Reason", "text", (row) => row.reason], ["Row", "text", (row) => make("code", {}, row.row ?? "")], ["Load", "time", (row) => row.load],
    ].filter(([heading]) => heading !== "Rules" || rows.some((row) => row.rules));
    const kinds = [...new Set(rows.map((row) => row.columns ?? ""))].sort();
    const text = make("input", { type: "search", autocomplete: "off", placeholder: "value, reason, load" });
    const kind = make("select", {}, make("option", { value: "*" }, "all"), ...kinds.map((one) => make("option", { value: one }, one || "(none)")));
    const found = make("span", { role: "status" });
    const place = make("div");
    const filter = () => {
      const part = text.value.trim().toLowerCase();
      const fitting = rows.filter((row) => isWithin(named[row.load] ?? dateOf(row.load)) && (kind.value === "*" || kind.value === (row.columns ?? ""))
        && (!part || Object.values(row).some((value) => String(value ?? "").toLowerCase().includes(part))));
      found.textContent = `${number(fitting.length)} of ${counted(rows.length, "row")}`;
      place.replaceChildren(fitting.length ? table("Rejected rows", columns, fitting) : make("p", { class: "empty" }, "No row fits."));
    };
    const form = make("form", { "aria-label": "Rejected rows" }, make("label", { class: "search" }, "Find ", text), make("label", { class: "search" }, "Columns ", kind), found);
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    filter();
    return card("Newest rejected rows", form, place, make("p", { class: "note" }, `${entity.name}_rejects holds all of them.`));
  }

  function schemaOf(entity, loads) {
    const changed = loads.filter((row) => row.change).reverse();
    if (!changed.length) return [];
    return [card(null, table("Schema changes", [
      ["Business time", "time", (row) => row.time], ["Change", "value", (row) => row.change.split("; ").join("\n")], ["State", null, (row) => row.kind], ["Load", "time", (row) => row.load],
    ], changed))];
  }

  function retentionText({ compact_loads: most, retention_hours: hours }) {
    const compaction = most == null ? "Runs do not compact this entity." : `When ${number(most)} loads have come since the last compaction, a run compacts the older half.`;
    const span = hours % 24 ? counted(hours, "hour") : counted(hours / 24, "day");
    return `${compaction} ${hours == null ? "Runs vacuum nothing." : `Then it vacuums replaced loads that are older than ${span}.`}`;
  }

  function storageOf(entity) {
    const { files, compact } = entity.details ?? {};
    const nodes = [];
    if (files?.length) nodes.push(card("Files", table("Files", [
      ["Table", "name", (one) => one.table], ["Loads", null, (one) => (one.is_needed ? "active" : "inactive: replaced, refused or undone")],
      ["Files", "figure", (one) => number(one.files)], ["Size", "figure", (one) => bytesText(one.bytes)],
    ], files)));
    const lines = [];
    if (Object.keys(entity.maintenance ?? {}).length) lines.push(make("p", {}, retentionText(entity.maintenance)));
    const inactive = files?.filter((one) => !one.is_needed) ?? [];
    const sum = (figure) => inactive.reduce((all, one) => all + one[figure], 0);
    if (files) lines.push(...(inactive.length
      ? [make("p", {}, `Inactive loads hold ${bytesText(sum("bytes"))} in ${counted(sum("files"), "file")}. Vacuum frees those that are older than a week and that no tag names:`), command(`spark-cdc vacuum --select ${entity.name}${entity.options ?? ""}`)]
      : [make("p", {}, "Vacuum would free nothing: no load is inactive.")]));
    if (files) lines.push(...(compact
      ? [make("p", {}, `Compaction would merge ${counted(compact, "load")} into two:`), command(`spark-cdc compact --select ${entity.name}${entity.options ?? ""}`)]
      : [make("p", {}, "Compaction would merge nothing: it takes more than two loads that are 30 days older than the last.")]));
    if (lines.length) nodes.push(card("Retention", ...lines));
    if (entity.moves) nodes.push(card("Maintenance", table("Maintenance", [
      ["Operation", null, (move) => move.what], ["Time", "time", (move) => instant(move.at)], ["After", "time", (move) => move.time], ["Loads", "text", (move) => move.message],
    ], entity.moves.toReversed())));
    return nodes;
  }

  function loadsTable(loads) {
    const near = (row) => row.guards.filter(([, used]) => used >= 0.8).map(([guard, used]) => `${Math.round(100 * used)}% of ${guard}`);
    const note = (row) => [row.guard, row.change, ...near(row)].filter(Boolean).join("; ");
    const figures = [["Rows in", "rows_in"], ...OPERATIONS.map((one) => [one[0].toUpperCase() + one.slice(1), one]), ["Rejected", "rejected"], ["Late events", "late"], ["Rows", "current"], ["Seconds", "seconds"], ["Files", "files"]];
    const columns = [
      ["Business time", "time", (row) => row.time], ["State", null, (row) => row.kind], ["Type", null, (row) => row.type],
      ...figures.filter(([, name]) => loads.some((row) => row[name])).map(([heading, name]) => [heading, "figure", (row) => number(row[name])]),
      ["Size", "figure", (row) => bytesText(row.bytes)], ["Committed", "time", (row) => instant(row.arrived)], ["Load", "time", (row) => row.load],
      ...(loads.some(note) ? [["Note", "value", note]] : []),
    ];
    const newest = loads.toReversed();
    const place = make("div", {}, table("Loads", columns, newest.slice(0, SHOWN_LOADS)));
    if (newest.length <= SHOWN_LOADS) return [card(null, place)];
    const button = make("button", { type: "button" }, `Show all ${number(newest.length)} loads`);
    button.addEventListener("click", () => {
      place.replaceChildren(table("Loads", columns, newest));
      button.remove();
    });
    return [card(null, place, button)];
  }

  function factsOf(entity, loads) {
    const last = loads.findLast((row) => row.isActive);
    const refused = loads.filter((row) => row.kind === "refused").length;
    const facts = [
      ["Rows", number(entity.rows ?? 0)], ["Last load", last?.time], ["Age", entity.age], ["Load type", entity.load_type], ["Expected", entity.expected_every],
      ["Active loads", number(entity.committed_loads ?? 0)], ["Rejected rows", number(loads.reduce((sum, row) => sum + (row.isActive ? row.rejected ?? 0 : 0), 0))],
      ["Refused loads", number(refused)], ["Missing dates", entity.expected_every && number((entity.missing ?? []).filter(isWithin).length)], ["Last checkpoint", entity.checkpoint && dateOf(entity.checkpoint)],
    ];
    return make("dl", { class: "card facts" }, ...facts.filter(([, value]) => value).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  }

  function sectionsOf(entity, loads, charts) {
    const grid = (group) => (charts.has(group) ? [make("div", { class: "charts" }, ...charts.get(group))] : []);
    return [
      ["attention", "Needs attention", findingsOf(entity)],
      ["changes", "Changes", [...grid("Changes"), ...changesOf(entity.details?.changes)]],
      ["quality", "Quality", [...grid("Quality"), ...rulesOf(entity, loads), ...refusedOf(loads)]],
      ["rejected", "Rejected rows", rejectsOf(entity, loads)],
      ["schema", "Schema changes", schemaOf(entity, loads)],
      ["performance", "Performance", grid("Performance")],
      ["files", "Files and retention", storageOf(entity)],
      ["loads", "Loads", loads.length ? loadsTable(loads) : [make("p", { class: "card empty" }, period.from || period.to ? "No load in this period." : "No load yet. Charts and tables appear here after the first one.")]],
    ].filter(([, , nodes]) => nodes.length);
  }

  function periodForm() {
    const field = (name, label) => make("label", { class: "search" }, `${label} `, Object.assign(make("input", { type: "date", name }), { value: period[name] }));
    const form = make("form", { class: "period", "aria-label": "Business dates" }, field("from", "From"), field("to", "To"), make("button", { type: "button" }, "All dates"));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", () => {
      Object.assign(period, Object.fromEntries(new FormData(form)));
      show(opened().entity);
    });
    form.lastChild.addEventListener("click", () => {
      Object.assign(period, { from: "", to: "" });
      show(opened().entity);
    });
    return form;
  }

  async function show(entity) {
    drawn.forEach((one) => one.finalize());
    drawn = [];
    const page = find("entity");
    page.hidden = !entity;
    find("overview").hidden = Boolean(entity);
    if (!entity) return;
    const loads = loadsOf(entity);
    const charts = chartsOf(entity, loads);
    const sections = sectionsOf(entity, loads, charts);
    const link = ([id, title]) => make("a", { href: `#entity/${encodeURIComponent(entity.name)}/${id}` }, title);
    page.replaceChildren(
      make("nav", { class: "trail", "aria-label": "Back" }, make("a", { href: "#main" }, "← All entities")),
      make("div", { class: "title" }, make("h2", { id: "entity-title", tabindex: "-1" }, ...broken(entity.name)), state(entity.level, entity.state), entity.loads ? periodForm() : null),
      factsOf(entity, loads),
      make("nav", { class: "sections", "aria-label": "Sections" }, ...sections.map(link)),
      ...sections.map(([id, title, nodes]) => make("section", { "aria-labelledby": `section-${id}` }, make("h2", { id: `section-${id}`, tabindex: "-1" }, title), ...nodes)),
    );
    for (const figure of [...charts.values()].flat()) await figure.draw();
  }

  // ---- the place that is shown, and filters

  function opened() {
    const [, name, section] = location.hash.match(/^#entity\/([^/]+)(?:\/(\w+))?$/) ?? [];
    return { entity: name && entities.get(decodeURIComponent(name)), section };
  }

  let next = null; // the element that gets the focus, if it is not the title

  async function follow() {
    const { entity, section } = opened();
    const name = entity?.name ?? "";
    if (document.body.dataset.shown !== name) {
      Object.assign(period, { from: "", to: "" });
      await show(entity);
      document.body.dataset.shown = name;
    }
    window.scrollTo(0, 0);
    const target = find(next ?? (section ? `section-${section}` : entity ? "entity-title" : "attention-title"));
    target?.focus({ preventScroll: true });
    if (section) target?.scrollIntoView();
    next = null;
  }

  let level = "";

  function filter() {
    const part = find("entity-filter").value.trim().toLowerCase();
    for (const node of find("overview").querySelectorAll("[data-entity]")) {
      node.hidden = !node.dataset.entity.toLowerCase().includes(part) || Boolean(level && node.dataset.level !== level);
    }
    if (part || level) find("overview").querySelectorAll(".more").forEach((more) => { more.open = true; });
    const shown = find("overview").querySelectorAll(".tile:not([hidden])").length;
    find("found").textContent = part || level ? counted(shown, "entity").replace("entitys", "entities") : "";
  }

  find("filters")?.addEventListener("input", filter);
  find("filters")?.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", async ({ target }) => {
    const button = target.closest("button");
    if (button?.dataset.show !== undefined) {
      level = button.dataset.show;
      for (const one of button.parentNode.children) one.setAttribute("aria-pressed", String(one === button));
      filter();
    } else if (button?.classList.contains("copy")) {
      const code = button.previousElementSibling;
      getSelection().selectAllChildren(code); // where the browser lets no page write to the clipboard
      await navigator.clipboard?.writeText(code.textContent).then(() => { button.textContent = "Copied"; }, () => {});
    }
  });
  find("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && event.target.tagName !== "INPUT") {
      event.preventDefault();
      if (!opened().entity) return find("entity-filter")?.focus();
      next = "entity-filter";
      location.hash = "#main";
    } else if (event.key === "Escape" && opened().entity) {
      location.hash = "#main";
    }
  });
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
  addEventListener("hashchange", follow);
  await follow();
  document.body.dataset.ready = "true";
})();
