"use strict";
// Sorts, filters and pages the tables, and shows what a figure or a row rests on.
// What upstream wrote becomes text nodes, never markup; nothing is asked of any server.
(() => {
  const PAGE = 25;
  const SEVERITIES = ["critical", "major", "minor", "info"];
  const $ = (id) => document.getElementById(id);
  const make = (tag, attributes, ...inside) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...inside);
    return element;
  };
  const size = (n) => (n >= 999.95e6 ? `${(n / 1e9).toFixed(1)} GB` : `${(n / 1e6).toFixed(1)} MB`);
  const shown = (kind, value) => {
    if (value === null) return "";
    if (kind === "yes") return value ? "yes" : "no";
    return kind === "bytes" && typeof value === "number" ? size(value) : String(value);
  };
  const compare = (a, b) => {
    if (typeof a !== typeof b) return typeof a < typeof b ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  };

  // ---- tables: columns of distinct values and, where values repeat, of each row's place among them
  class Column {
    constructor({ name, kind, source, values, at, cells }) {
      Object.assign(this, { name, kind, source, values: cells || values, at: cells ? null : at });
    }
    place(row) { return this.at ? this.at[row] : row; }
    value(row) { return this.values[this.place(row)]; }
    text(row) { return shown(this.kind, this.value(row)); }
    get ranks() {
      if (!this.ranked) {
        const { values } = this;
        const order = values.map((_, n) => n).sort((a, b) => compare(values[a], values[b]));
        this.ranked = new Int32Array(values.length);
        order.forEach((n, rank) => {
          const before = order[rank - 1];
          const same = rank && compare(values[before], values[n]) === 0;
          this.ranked[n] = values[n] === null ? -1 : same ? this.ranked[before] : rank;
        });
      }
      return this.ranked;
    }
    matching(term) {
      this.lower = this.lower || this.values.map((value) => shown(this.kind, value).toLowerCase());
      return this.lower.map((text) => text.includes(term));
    }
    sorted(rows, descending) {
      const rank = (row) => this.ranks[this.place(row)];
      const known = rows.filter((row) => rank(row) >= 0);
      known.sort(descending ? (a, b) => rank(b) - rank(a) : (a, b) => rank(a) - rank(b));
      return known.concat(rows.filter((row) => rank(row) < 0)); // what is not known comes last
    }
  }

  class Grid {
    constructor(name, table, data) {
      Object.assign(this, { name, table, ...data });
      this.all = Array.from({ length: data.rows }, (_, n) => n);
      this.found = this.all;
      this.page = 0;
      this.chosen = {};
      this.heads = [...table.tHead.rows[0].cells];
      this.order = this.all;
    }
    column(name) { return this.columns.find((column) => column.name === name); }
    id(row) { return this.key.map((name) => this.column(name).value(row)).join(":"); }
    find(key) {
      if (!this.index) {
        this.index = new Map(this.all.map((row) => [this.id(row), row]));
      }
      return this.index.get(key);
    }
    enhance() {
      this.heads.forEach((head, n) => {
        if (!head.textContent.trim() || head.hasAttribute("data-still")) return;
        const label = `Sort by ${head.textContent.trim()}`;
        const button = make("button", { class: "sort", type: "button", "aria-label": label });
        button.addEventListener("click", () => this.sort(n));
        head.append(" ", button);
      });
      for (const note of this.table.querySelectorAll(".unscripted")) note.remove();
      if (this.rows > 12) this.controls();
      if (this.key) this.show();
    }
    controls() {
      const box = make("div", { class: "controls", role: "group" });
      box.setAttribute("aria-label", `Filter: ${this.table.caption.textContent.trim()}`);
      const input = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
      input.addEventListener("input", () => { this.sought = input.value; this.filter(); });
      box.append(make("label", {}, "Filter ", input));
      for (const name of this.facets) {
        const column = this.column(name);
        if (column.values.length < 2 || column.values.length > 60) continue;
        const select = make("select", {}, make("option", { value: "" }, "all"));
        column.values
          .map((_, n) => n)
          .sort((a, b) => column.ranks[a] - column.ranks[b])
          .forEach((n) => {
            const none = column.values[n] === null;
            select.append(make("option", { value: n }, none ? "(none)" : shown(column.kind, column.values[n])));
          });
        select.addEventListener("change", () => { this.chosen[name] = select.value; this.filter(); });
        box.append(make("label", {}, `${name} `, select));
      }
      this.count = make("output", { "aria-live": "polite" });
      box.append(this.count);
      this.table.closest(".wide").before(box);
      this.back = make("button", { type: "button" }, "← Previous");
      this.next = make("button", { type: "button" }, "Next →");
      this.back.addEventListener("click", () => { this.page -= 1; this.show(); });
      this.next.addEventListener("click", () => { this.page += 1; this.show(); });
      if (this.key) this.table.closest(".wide").after(make("div", { class: "pager" }, this.back, this.next));
      this.say();
    }
    sort(n) {
      const head = this.heads[n];
      const descending = head.getAttribute("aria-sort") === "ascending";
      this.heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      this.order = this.column(head.dataset.name).sorted(this.all, descending);
      this.filter();
    }
    filter() {
      const tests = [];
      for (const [name, value] of Object.entries(this.chosen)) {
        const column = this.column(name);
        if (value !== "") tests.push((row) => column.at[row] === Number(value));
      }
      for (const term of (this.sought || "").toLowerCase().split(/\s+/).filter(Boolean)) {
        const hits = this.columns.map((column) => [column, column.matching(term)]);
        tests.push((row) => hits.some(([column, hit]) => hit[column.place(row)]));
      }
      this.found = tests.length ? this.order.filter((row) => tests.every((test) => test(row))) : this.order;
      this.page = 0;
      this.show();
    }
    show() {
      const body = this.table.tBodies[0];
      const rows = this.key ? this.found.slice(this.page * PAGE, (this.page + 1) * PAGE) : this.found;
      body.replaceChildren(...rows.map((row) => this.line(row)));
      this.say();
    }
    say() {
      if (!this.count) return;
      const from = this.page * PAGE;
      const to = this.key ? Math.min(from + PAGE, this.found.length) : this.found.length;
      const of = this.found.length === this.total ? "" : `, of ${this.total} in all`;
      this.count.textContent = `${to ? from + 1 : 0}–${to} of ${this.found.length}${of}`;
      this.back.disabled = this.page === 0;
      this.next.disabled = to >= this.found.length;
    }
    line(row) {
      if (this.nodes) return this.nodes[row];
      const cells = this.shown.map((name) => {
        const column = this.column(name);
        const tag = name === this.lead ? ["th", { class: column.kind, scope: "row" }] : ["td", { class: column.kind }];
        return make(...tag, this.cell(column, row));
      });
      return make("tr", {}, ...cells);
    }
    link(row, text) {
      const id = this.id(row);
      const link = make("a", { class: "f", href: `#${encodeURIComponent(`${this.name}:${id}`)}` }, text || id);
      if (text !== id) link.setAttribute("aria-label", `${text}: ${id}`);
      return link;
    }
    cell(column, row) {
      const text = column.text(row);
      if (column.name === this.lead) return this.link(row, text);
      if (column.kind !== "word") return text;
      const link = word(column.source, text);
      return column.name === "severity" ? make("span", { class: `sev ${SEVERITIES.includes(text) ? text : ""}` }, link) : link;
    }
  }

  function word(source, text) {
    const [table, name] = source.split(".");
    const target = name === "reason" ? `word:reason:${text}` : `word:${table}:${text}`;
    return text && $(target) ? make("a", { class: "w", href: `#${target}` }, text) : text;
  }

  const grids = {};
  const parsed = (script) => {
    const data = JSON.parse(script.textContent);
    return { ...data, columns: data.columns.map((column) => new Column(column)) };
  };
  for (const table of document.querySelectorAll("table[data-grid]")) {
    const name = table.dataset.grid;
    grids[name] = new Grid(name, table, parsed($(`data-${name}`)));
    grids[name].enhance();
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    const nodes = [...table.tBodies[0].rows];
    const columns = [...table.tHead.rows[0].cells].map((head, n) => {
      const number = head.classList.contains("n");
      const cells = nodes.map(({ cells: { [n]: cell } }) => {
        const text = cell.dataset.v === undefined ? cell.textContent.trim() : cell.dataset.v;
        return number ? (text === "" || Number.isNaN(Number(text)) ? null : Number(text)) : text;
      });
      head.dataset.name = String(n);
      return new Column({ name: String(n), kind: "text", source: "", cells });
    });
    new Grid("", table, { rows: nodes.length, total: nodes.length, columns, nodes, facets: [] }).enhance();
  }

  // ---- evidence: a panel for a figure or a row
  const panel = $("panel");
  const commits = JSON.parse($("data-commits").textContent);
  let opener = null;
  const copier = (label, text) => {
    const button = make("button", { type: "button" }, label);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const area = panel.appendChild(make("textarea", { "aria-hidden": "true" }));
        area.value = text;
        area.select();
        document.execCommand("copy");
        area.remove();
      }
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = label; }, 1500);
    });
    return button;
  };
  const SAID = ["value", "meaning", "paths", "path", "run_path", "repo", "commit", "commit_sha"];
  const EXPLAINED = ["figures", "findings", "runs", "claims"];
  function evidence(grid, row) {
    const get = (name) => (grid.column(name) ? grid.column(name).value(row) : null);
    const id = String(get(grid.key[grid.key.length - 1]));
    const list = make("dl");
    const add = (name, ...inside) => list.append(make("dt", {}, name), make("dd", {}, ...inside));
    const figure = grid.name === "figures";
    if (figure) {
      add("value", make("span", { class: "value" }, grid.column("value").text(row) || "not known"));
      add("meaning", get("meaning"));
    }
    const repo = get("repo");
    const commit = get("commit") || get("commit_sha") || commits[repo];
    const paths = figure ? get("paths").split("\n") : [get("run_path") || get("path") || ""];
    if (repo) {
      const at = `${repo}${commit ? `@${commit}` : ""}`;
      add("rests on", ...paths.map((path) => make("code", {}, path ? `${at}:${path}` : at)));
    } else if (figure) {
      add("rests on", "the whole family at the commits of the first table");
    }
    for (const column of grid.columns) {
      const text = column.text(row);
      if (text === "" || SAID.includes(column.name) || grid.key.includes(column.name)) continue;
      const label = $(`word:${column.source}`);
      const name = label ? make("a", { class: "w", href: `#word:${column.source}` }, column.name) : column.name;
      if (column.name === "query") add(name, make("pre", {}, text), copier("Copy query", text));
      else add(name, column.kind === "word" ? word(column.source, text) : text);
    }
    if (EXPLAINED.includes(grid.name)) {
      const command = `benchproof explain ${/^[\w./-]+$/.test(id) ? id : `'${id.replaceAll("'", "'\\''")}'`}`;
      add("how to refute it", make("code", {}, command), copier("Copy command", command));
    }
    const anchor = grid.name === "figures" ? id : `${grid.name}:${grid.id(row)}`;
    $("panel-title").textContent = id;
    const url = `${location.href.split("#")[0]}#${encodeURIComponent(anchor)}`;
    $("panel-body").replaceChildren(make("p", {}, copier("Copy id", id), copier("Copy link", url)), list);
    if (!panel.open) panel.show();
    panel.scrollTop = 0;
    $("panel-title").focus();
  }
  const lookup = (hash) => {
    const name = decodeURIComponent(hash.slice(1));
    const cut = name.indexOf(":");
    for (const [grid, key] of [["figures", name], ["findings", name], [name.slice(0, cut), name.slice(cut + 1)]]) {
      const row = grids[grid] && grids[grid].find(key);
      if (row !== undefined) return () => evidence(grids[grid], row);
    }
    return null;
  };
  const reveal = () => {
    const target = $(decodeURIComponent(location.hash.slice(1)));
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    if (target) target.scrollIntoView({ block: location.hash.includes(".") ? "center" : "start" });
    const open = location.hash && lookup(location.hash);
    if (open) open();
  };
  const shut = () => {
    panel.close();
    if (opener && opener.isConnected) opener.focus();
  };
  $("panel-close").addEventListener("click", shut);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.f");
    const open = link && lookup(link.getAttribute("href"));
    if (!open || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (!panel.contains(link)) opener = link;
    history.replaceState(null, "", link.getAttribute("href"));
    open();
  });
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();

  // ---- meanings: one tip for words and figures, by pointer and by focus; Escape hides it
  const tip = $("tip");
  let tipped = null;
  const meaning = (link) => {
    const name = decodeURIComponent(link.getAttribute("href").slice(1));
    if (link.classList.contains("w")) return $(name) ? $(name).nextElementSibling.textContent : "";
    const row = grids.figures.find(name);
    return row === undefined ? "" : grids.figures.column("meaning").value(row);
  };
  const hide = () => {
    tip.hidden = true;
    if (tipped) tipped.removeAttribute("aria-describedby");
    tipped = null;
  };
  const hint = (event) => {
    const link = event.target.closest && event.target.closest("a.w, a.f");
    if (!link || link === tipped) return;
    const text = meaning(link);
    if (!text) return;
    hide();
    tip.textContent = text;
    tip.hidden = false;
    tipped = link;
    link.setAttribute("aria-describedby", "tip");
    put();
  };
  const put = () => {
    const box = tipped.getBoundingClientRect();
    const below = box.bottom + tip.offsetHeight + 8 < innerHeight;
    tip.style.left = `${Math.max(8, Math.min(box.left, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${below ? box.bottom + 4 : Math.max(0, box.top - tip.offsetHeight - 4)}px`;
  };
  document.addEventListener("pointerover", hint);
  document.addEventListener("focusin", hint);
  document.addEventListener("focusout", hide);
  document.addEventListener("pointerout", (event) => {
    if (tipped && tipped.contains(event.target) && !tip.contains(event.relatedTarget)) hide();
  });
  tip.addEventListener("pointerleave", hide);
  // Focus scrolls what it is given to into view: its tip goes along.
  document.addEventListener("scroll", () => {
    if (tipped && tipped === document.activeElement) put();
    else hide();
  }, { passive: true, capture: true });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (tipped) hide();
    else if (panel.open) shut();
  });

  // ---- print: what is folded is unfolded
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details.print")) folded.open = true;
  });
})();
