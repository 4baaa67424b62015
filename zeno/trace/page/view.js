"use strict";
/* Draws a trace. Everything that comes out of the data is put on the page as text (textContent), never as HTML, and
   characters that could hide or reorder text are shown as what they are. */
(() => {
  const DATA = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const ROW = 28, FILE = 27;

  /* ---------- text ---------- */

  const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;
  const picture = (char) => {
    const code = char.codePointAt(0);
    if (code === 10) return "\u21b5"; // many fonts have no picture of a line feed
    if (code < 32) return String.fromCodePoint(0x2400 + code);
    if (code === 127) return "\u2421";
    return "\u27e8U+" + code.toString(16).toUpperCase().padStart(4, "0") + "\u27e9";
  };
  /** Text of the trace as one line; `tabs` keeps tabs as they are. */
  const show = (text, tabs) => String(text).replace(HIDDEN, (char) => (tabs && char === "\t" ? char : picture(char)));
  /** A path: a byte that is no UTF-8 comes as NUL and two digits. */
  const showPath = (path) => show(String(path).replace(/\0([89a-f][0-9a-f])/g, "\\x$1"));

  /** The characters at the end of a path that stay whole where there is no room for all of it. */
  const TAIL = 10;

  const el = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
      else if (name === "css") for (const [property, what] of Object.entries(value)) node.style.setProperty(property, what);
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  /** A path in parts: `head` loses its end where there is no room, so that the path is cut in the middle; `after`, such as
      a range of lines, always stays. */
  const pathParts = (path, after) => {
    const chars = Array.from(showPath(path)), at = chars.length > TAIL + 2 ? chars.length - TAIL : 0;
    return [at ? el("span", { class: "head" }, chars.slice(0, at).join("")) : null, el("span", { class: "tail" }, chars.slice(at).join("")), after ? el("span", { class: "lines" }, after) : null];
  };
  const fill = (node, ...children) => { node.replaceChildren(...children.filter((child) => child)); return node; };

  const number = (value) => value.toLocaleString("en-US");
  const plural = (count, noun) => number(count) + " " + noun + (count === 1 ? "" : "s");
  const bytes = (value) => {
    if (value < 1000) return value + " B";
    for (const unit of ["kB", "MB", "GB", "TB"]) {
      value /= 1000;
      if (value < 999.5 || unit === "TB") return (value < 9.95 ? value.toFixed(1) : value.toFixed(0)) + " " + unit;
    }
  };
  const millis = (value) => (value < 1000 ? value + " ms" : value < 60000 ? (value / 1000).toFixed(1) + " s" : Math.floor(value / 60000) + " min " + Math.round((value % 60000) / 1000) + " s");
  const clock = (seconds) => {
    if (seconds === null || seconds === undefined) return "";
    const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, "0"));
    return parts[0] === "00" ? parts[1] + ":" + parts[2] : parts.join(":");
  };
  const percent = (part, whole) => (whole ? (part === whole ? "100" : Math.min(99, Math.round((100 * part) / whole)).toString()) + " %" : "-");
  const lines = (first, last) => (first === last ? String(first) : first + "\u2013" + last);

  /* ---------- data ---------- */

  const ROWS = DATA.rows.map((values, index) => {
    const row = { index };
    for (let at = 0; at < values.length; at++) if (values[at] !== null) row[DATA.columns[at]] = values[at];
    return row;
  });
  const CLAIM_ROWS = ROWS.filter((row) => row.kind === "claim");
  const OPS = DATA.operations.map(([name]) => name);
  const hue = (op) => "var(--" + (OPS.includes(op) ? op : "other") + ")";
  const FILES = DATA.files.map(([path, total, delivered, ranges]) => ({ path, total, delivered, ranges, name: DATA.paths[path] }));
  const FILE_OF = new Map(FILES.map((file) => [file.path, file]));
  const maxMs = ROWS.reduce((most, row) => Math.max(most, row.ms || 0), 1);
  const maxBytes = ROWS.reduce((most, row) => Math.max(most, row.bytes || 0), 1);

  // The words are those that `zeno trace verify` prints and its JSON has.
  const VERDICTS = {
    ok: "good", moved: "warn", changed: "bad", out_of_range: "bad", missing: "bad", outside_root: "bad", denied: "bad",
    invalid: "bad", unsealed: "warn",
  };
  const ANSWERS = { ok: "good", partial: "bad", changed: "bad", not_run: "warn", not_given: "bad" };
  const PROVENANCE = { delivered: ["good", "seen before"], not_delivered: ["bad", "never delivered"], unknown: ["warn", "delivery unknown"] };
  const claimClass = (claim) => {
    if (claim.holds === null) return "none";
    if (claim.holds) return "good";
    const bad = claim.evidence.some((one) => VERDICTS[one[3]] === "bad" || one[4] === "not_delivered") || claim.answers.some((one) => ANSWERS[one[2]] === "bad");
    return bad || !(claim.evidence.length + claim.answers.length + (claim.search ? 1 : 0)) ? "bad" : "warn";
  };
  const claimWord = (claim) => ({ none: "not checked", good: "checks out", bad: "fails", warn: "fails" })[claimClass(claim)];
  const badge = (kind, text) => el("span", { class: "badge " + kind }, text);

  const troubled = (row) => row.error || row.kind === "torn" || row.kind === "open" || row.cut || row.replay === "differs";

  /** The lines that a read_file delivered, or where that is not known those it asked for. */
  const readLines = (row, args) => {
    const seen = row.seen === undefined ? [] : DATA.deliveries[row.seen], first = args.start_line || 1;
    if (seen.length === 3) return ":" + lines(seen[1], seen[2]);
    return ":" + (args.end_line >= Number.MAX_SAFE_INTEGER ? first + "\u2013end" : lines(first, args.end_line || first));
  };
  /** The same as nodes, for a row: a path is cut in its middle, its lines stay. */
  const argNodes = (row) => {
    const args = DATA.args[row.args] || {}, text = summary(row);
    if ((row.kind !== "op" && row.kind !== "open") || typeof args.path !== "string" || !text.startsWith(args.path)) return [el("span", { class: "head" }, show(text.slice(0, 400)))];
    const after = row.op === "read_file" ? readLines(row, args) : "", rest = text.slice(args.path.length + after.length);
    return [...pathParts(args.path, after), rest ? el("span", { class: "rest" }, show(rest.slice(0, 400))) : null];
  };
  /** Arguments that nobody asks by, and that servers for models add to every request. */
  const LIMITS_OF_TEXT = new Set(["max_chars", "max_line_chars"]), ALL_FILES = 1000000;
  const isAside = (name, value) => LIMITS_OF_TEXT.has(name) || (name === "max_files" && value >= ALL_FILES);
  /** The arguments of a request as a person would say them; the detail has them to the letter. */
  const argText = (row) => {
    const args = DATA.args[row.args] || {};
    const known = (name) => typeof args[name] === "string";
    const rest = (...used) => Object.entries(args).filter(([name, value]) => !used.includes(name) && !isAside(name, value)).map(([name, value]) => {
      if (name === "cursor") return "next page";
      if (name === "ranges" && Array.isArray(value)) return "+ " + plural(value.length, "range");
      if (name === "citations" && Array.isArray(value)) return plural(value.length, "citation");
      return name + "=" + (typeof value === "string" ? value : JSON.stringify(value));
    });
    if (row.op === "read_file" && known("path")) return [args.path + readLines(row, args), ...rest("path", "start_line", "end_line")].join("  ");
    if (row.op === "grep" && known("pattern")) {
      const where = Array.isArray(args.paths) ? "in " + args.paths.join(", ") : "";
      return [args.regex === true ? "/" + args.pattern + "/" : "\u201c" + args.pattern + "\u201d", where, ...rest("pattern", "paths", "regex")].filter(Boolean).join("  ");
    }
    if (known("path")) return [args.path, ...rest("path")].join("  ");
    if (known("glob")) return [args.glob, ...rest("glob")].join("  ");
    return rest().join("  ");
  };
  /** The row on a line of the trace; rows stand in its order. */
  const rowOf = (line) => {
    let low = 0, high = ROWS.length - 1;
    while (low < high) { const middle = (low + high) >> 1; if (ROWS[middle].line < line) low = middle + 1; else high = middle; }
    return ROWS[low];
  };
  /** The request behind an answer that a claim cites. */
  const answerText = (cited) => { const row = cited[1] === null ? null : rowOf(cited[1]); return row ? row.op + "  " + argText(row) : ""; };
  const summary = (row) => {
    if (row.kind === "op" || row.kind === "open") return argText(row);
    if (row.kind === "stray") return row.error[0] + ": " + row.error[1];
    return row.text || "";
  };
  const LABELS = { start: "subcall", end: "returned", claim: "claim", torn: "unreadable", stray: "refused" };
  const label = (row) => (row.kind === "op" || row.kind === "open" ? row.op : LABELS[row.kind]);

  /* ---------- virtual list ---------- */

  /** Shows only the rows in sight: 100,000 are as quick as 100. */
  class List {
    constructor(box, height, render, open) {
      Object.assign(this, { box, height, render, open, items: [], at: -1, shown: new Map() });
      this.spacer = box.appendChild(el("div", { class: "spacer", role: "presentation" }));
      box.addEventListener("scroll", () => { this.draw(); if (this.onscroll) this.onscroll(); }, { passive: true });
      new ResizeObserver(() => this.draw()).observe(box);
      box.addEventListener("click", (event) => {
        const node = event.target.closest("[data-at]");
        if (node) this.pick(Number(node.dataset.at), true);
      });
      box.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 1);
        const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page, PageUp: this.at - page, Home: 0, End: this.items.length - 1 }[event.key];
        if (to !== undefined) { this.pick(to, false); event.preventDefault(); }
        else if (event.key === "Enter" && this.at >= 0) { this.pick(this.at, true); event.preventDefault(); }
      });
    }
    set(items, keep) {
      this.items = items;
      this.at = keep === undefined ? -1 : items.indexOf(keep);
      this.spacer.style.height = items.length * this.height + "px";
      this.clear();
    }
    clear() { this.shown.clear(); this.spacer.replaceChildren(); this.draw(); }
    draw() {
      const top = this.box.scrollTop, room = this.box.clientHeight;
      const first = Math.max(0, Math.floor(top / this.height) - 8), last = Math.min(this.items.length, Math.ceil((top + room) / this.height) + 8);
      for (const [at, node] of this.shown) if (at < first || at >= last) { node.remove(); this.shown.delete(at); }
      for (let at = first; at < last; at++) {
        if (this.shown.has(at)) continue;
        const node = this.render(this.items[at]);
        node.dataset.at = at;
        node.id = this.box.id + "-" + at;
        node.setAttribute("role", "option");
        node.setAttribute("aria-posinset", at + 1);
        node.setAttribute("aria-setsize", this.items.length);
        node.setAttribute("aria-selected", at === this.at ? "true" : "false");
        node.style.top = at * this.height + "px";
        this.shown.set(at, node);
        this.spacer.append(node);
      }
    }
    pick(at, open) {
      if (!this.items.length) return;
      at = Math.max(0, Math.min(this.items.length - 1, at));
      const before = this.shown.get(this.at);
      if (before) before.setAttribute("aria-selected", "false");
      this.at = at;
      const top = at * this.height;
      if (top < this.box.scrollTop) this.box.scrollTop = Math.max(0, top - this.height);
      else if (top + this.height > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + 2 * this.height - this.box.clientHeight;
      this.draw();
      const now = this.shown.get(at);
      if (now) now.setAttribute("aria-selected", "true");
      this.box.setAttribute("aria-activedescendant", this.box.id + "-" + at);
      this.open(this.items[at], open);
    }
    reveal(item, open) {
      const at = this.items.indexOf(item);
      if (at >= 0) {
        const top = at * this.height;
        if (top < this.box.scrollTop || top > this.box.scrollTop + this.box.clientHeight - this.height) this.box.scrollTop = top - this.box.clientHeight / 2;
        this.pick(at, open);
      }
      return at >= 0;
    }
  }

  /* ---------- timeline ---------- */

  const folded = new Set();
  const heat = (value, most, text, op) => {
    const cell = el("span", { class: "n heat" }, text);
    if (value > 0) cell.append(el("i", { css: { width: Math.max(3, (100 * Math.log1p(value)) / Math.log1p(most)) + "%", "--hue": hue(op) } }));
    return cell;
  };
  const flagOf = (row) => {
    if (row.error) return el("span", { class: "flag", title: show(row.error[0]) }, "!");
    if (row.kind === "torn" || row.kind === "open") return el("span", { class: "flag", title: row.kind === "open" ? "no answer" : "cannot be read" }, "!");
    if (row.replay === "differs") return el("span", { class: "flag", title: "answered otherwise now" }, "\u2260");
    if (row.cut) return el("span", { class: "flag soft", title: "a limit withheld something" }, "\u2026");
    return el("span", {});
  };
  const drawRow = (row) => {
    const what = el("span", { class: "what" });
    if (row.depth) what.append(el("span", { class: "rails" }, ...Array.from({ length: Math.min(row.depth, 12) }, () => el("i"))));
    const claim = row.kind === "claim" ? DATA.claims[row.claim] : null;
    if (row.kind === "start") {
      const open = !folded.has(row.index);
      what.append(el("span", { class: "fold", title: (open ? "fold" : "unfold") + " (x)", on: { click: (event) => { event.stopPropagation(); fold(row); } } }, open ? "\u25be" : "\u25b8"));
    } else if (claim) what.append(el("span", { class: "mark" }));
    else if (row.kind !== "end") what.append(el("span", { class: "dot", css: { "--hue": row.op ? hue(row.op) : "var(--bad)" } }));
    what.append(el("span", { class: "op" }, show(label(row) || "?")), el("span", { class: "arg", title: show(summary(row).slice(0, 400)) }, ...argNodes(row)), row.error && row.kind === "op" ? el("span", { class: "oops" }, show(row.error[0])) : "");
    const count = row.count === undefined ? "" : number(row.count);
    if (row.kind !== "op" && row.kind !== "open") return el("div", { class: "row event is-" + row.kind, css: claim ? { "--verdict": "var(--" + claimClass(claim) + ")" } : {} }, el("span", { class: "at" }, clock(row.t)), what, flagOf(row));
    return el("div", { class: "row event is-" + row.kind },
      el("span", { class: "at" }, clock(row.t)), what,
      el("span", { class: "n" }, count),
      row.bytes === undefined ? el("span", {}) : heat(row.bytes, maxBytes, bytes(row.bytes), row.op),
      row.ms === undefined ? el("span", {}) : heat(row.ms, maxMs, number(row.ms), row.op),
      flagOf(row));
  };
  let picked = null;
  const NARROW = matchMedia("(max-width: 900px)"); // the panes lie below each other
  const timeline = new List($("rows"), ROW, drawRow, (row, open) => {
    picked = row;
    try { history.replaceState(null, "", "#L" + row.line); } catch { /* a page without an address of its own */ }
    if (row.kind === "claim") { if (open || tab() === "claims") { choose("claims"); openClaim(row.claim, open); } else detail(row); }
    else { detail(row); if (open || tab() === "claims") choose("detail"); }
    if (open && NARROW.matches) document.querySelector(".side").scrollIntoView({ block: "start" });
    drawStrip();
  });
  timeline.onscroll = () => drawStrip();

  const fold = (row) => { if (!folded.delete(row.index)) folded.add(row.index); refresh(); };
  const hiddenByFold = (row) => {
    for (let owner = row.owner; owner !== undefined; owner = ROWS[owner].owner) if (folded.has(owner)) return true;
    return false;
  };

  /* ---------- search and filters ---------- */

  const CHIPS = [
    ...OPS.concat([...new Set(ROWS.filter((row) => row.kind === "op").map((row) => row.op))].filter((op) => !OPS.includes(op)).sort())
      .map((op) => ({ name: op, dot: op, test: (row) => (row.kind === "op" || row.kind === "open") && row.op === op })),
    { name: "claims", test: (row) => row.kind === "claim" },
    { name: "subcalls", test: (row) => row.kind === "start" || row.kind === "end" },
    { name: "errors", test: (row) => row.error || row.kind === "torn" || row.kind === "open" },
    { name: "cut", test: (row) => Boolean(row.cut) },
    { name: "differs", test: (row) => row.replay === "differs" },
  ].map((chip) => ({ ...chip, count: ROWS.reduce((sum, row) => sum + (chip.test(row) ? 1 : 0), 0) })).filter((chip) => chip.count).slice(0, 24);
  const pressed = new Set();
  const argCache = [];
  const haystack = (row) => {
    if (row.hay === undefined) {
      let args = "";
      if (row.args !== undefined) args = argCache[row.args] ??= JSON.stringify(DATA.args[row.args]).toLowerCase() + " " + argText(row).toLowerCase();
      const cited = row.kind === "claim" ? DATA.claims[row.claim] : { evidence: [], answers: [] };
      const claim = [...cited.evidence.map((one) => DATA.paths[one[0]] + ":" + one[1] + "-" + one[2]), ...cited.answers.map((one) => one[0] + " " + answerText(one))].join(" ");
      row.hay = [row.kind, row.op, row.id, row.text, claim, row.error ? row.error.join(" ") : ""].join(" ").toLowerCase() + " " + args;
    }
    return row.hay;
  };
  const words = () => $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const refresh = () => {
    const wanted = words(), chips = CHIPS.filter((chip) => pressed.has(chip.name));
    const filtered = wanted.length > 0 || chips.length > 0;
    const kept = ROWS.filter((row) => (chips.length === 0 || chips.some((chip) => chip.test(row))) && wanted.every((word) => haystack(row).includes(word)) && (filtered || !hiddenByFold(row)));
    timeline.set(kept, picked);
    $("found").textContent = filtered ? number(kept.length) + " of " + number(ROWS.length) : plural(ROWS.length, "row");
    const old = $("rows").querySelector(".empty");
    if (old) old.remove();
    if (!kept.length) $("rows").append(el("p", { class: "empty" }, ROWS.length ? "Nothing matches. Esc clears the search." : "The trace has no events."));
    drawStrip(true);
    drawClaims();
  };
  let waiting = 0;
  $("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(refresh, ROWS.length > 5000 ? 120 : 0); });
  fill($("chips"), ...CHIPS.map((chip) => {
    const button = el("button", { type: "button", "aria-pressed": "false" }, chip.dot ? el("span", { class: "dot", css: { "--hue": hue(chip.dot) } }) : null, show(chip.name), el("b", {}, number(chip.count)));
    button.addEventListener("click", () => {
      if (!pressed.delete(chip.name)) pressed.add(chip.name);
      button.setAttribute("aria-pressed", pressed.has(chip.name));
      refresh();
    });
    return button;
  }));

  /* ---------- tabs ---------- */

  const TABS = ["claims", "files", "costs", "detail"];
  let current = "claims";
  const tab = () => current;
  const choose = (name, focus) => {
    current = name;
    for (const one of TABS) {
      $(one).hidden = one !== name;
      $("tab-" + one).setAttribute("aria-selected", one === name);
      $("tab-" + one).tabIndex = one === name ? 0 : -1;
    }
    if (focus) $("tab-" + name).focus();
    if (name === "files") { drawMap(); filelist.draw(); }
  };
  for (const name of TABS) {
    $("tab-" + name).addEventListener("click", () => choose(name));
    $("tab-" + name).addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) choose(TABS[(TABS.indexOf(name) + step + TABS.length) % TABS.length], true);
    });
  }

  /* ---------- lines of files ---------- */

  const textCache = new Map();
  const textOf = (path) => {
    if (!textCache.has(path)) {
      const known = new Map(), runs = DATA.texts[path] || [];
      for (let at = 0; at < runs.length; at += 2) runs[at + 1].split("\n").forEach((line, offset) => { known.set(runs[at] + offset, line); known.top = runs[at] + offset; });
      textCache.set(path, known);
    }
    return textCache.get(path);
  };
  const within = (ranges, line) => {
    let low = 0, high = ranges.length / 2 - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (line < ranges[2 * middle]) high = middle - 1;
      else if (line > ranges[2 * middle + 1]) low = middle + 1;
      else return true;
    }
    return false;
  };
  /** Lines of a file with their numbers. `wanted` is a list of [first, last]; `cited` marks a range among them. */
  const code = (path, wanted, cited, tint) => {
    const known = textOf(path), file = FILE_OF.get(path), box = el("div", { class: "code", css: tint ? { "--cite": "var(--" + tint + "-soft)" } : {} });
    // A citation may name lines that no file has: only those that the page knows are walked over.
    const top = Math.max(known.top || 0, file && file.total !== null ? Math.min(file.total, (known.top || 0) + 1e5) : 0);
    let before = null, drawn = 0, lost = 0;
    for (const [first, last] of wanted) {
      for (let line = first; line <= Math.min(last, top); line++) {
        if (before !== null && line <= before) continue;
        if (!known.has(line) || drawn >= 1500) { lost++; continue; }
        if (before !== null && line > before + 1) box.append(el("div", { class: "gap" }, "\u22ef"));
        const inside = cited && line >= cited[0] && line <= cited[1];
        box.append(el("div", { class: "ln" + (inside ? " cited" : cited ? " around" : "") + (file && within(file.ranges, line) ? " got" : ""), "data-line": line },
          el("span", {}, String(line)), el("span", {}, show(known.get(line), true) || " ")));
        before = line; drawn++;
      }
    }
    if (!drawn) return el("p", { class: "why" }, DATA.tree ? "These lines are not in the page: they are not in the file, or were left out." : "Made without the tree, the page knows no text. Give --root to see the lines.");
    if (lost) box.append(el("div", { class: "gap" }, plural(lost, "more line") + " not in the page"));
    return box;
  };

  /* ---------- claims ---------- */

  const openCards = new Set();
  let claimFilter = "all", claimRoom = 150, pickedClaim = -1;
  const seenIn = (claim, row, path, first, last) => {
    const found = [];
    for (const one of ROWS) {
      if (one.line >= row.line) break;
      if (one.seen === undefined || one.end >= row.line) continue;
      const flat = DATA.deliveries[one.seen];
      for (let at = 0; at < flat.length; at += 3) if (flat[at] === path && flat[at + 1] <= last && flat[at + 2] >= first) { found.push(one); break; }
      if (found.length > 5) break;
    }
    return found;
  };
  const jump = (row) => { if (!timeline.reveal(row, true)) { clearFilters(); timeline.reveal(row, true); } };
  const goto = (row, text) => el("button", { class: "link", type: "button", on: { click: () => jump(row) } }, text);
  /** Something cited: a line that opens. `unfold` puts into the body what there is to see. */
  const cited = (key, text, badges, unfold) => {
    const button = el("button", { class: "cite", type: "button", "aria-expanded": String(openCards.has(key)) }, el("span", { class: "mono text" }, ...[text].flat()), ...badges);
    const item = el("li", {}, button);
    const open = () => { const body = el("div", { class: "body" }); unfold(body); item.append(body); };
    if (openCards.has(key)) open();
    button.addEventListener("click", () => {
      const wanted = !openCards.has(key);
      if (wanted) { openCards.add(key); open(); } else { openCards.delete(key); item.querySelector(".body").remove(); }
      button.setAttribute("aria-expanded", String(wanted));
    });
    return item;
  };
  const evidence = (claim, row, index) => {
    const [path, first, last, verdict, provenance, moved, reason] = claim.evidence[index];
    const kind = VERDICTS[verdict] || "none", word = verdict || "not checked";
    const badges = [badge(kind, word + (moved ? " to " + lines(...moved) : "")), DATA.tree || provenance === "delivered" ? badge(...PROVENANCE[provenance]) : null];
    // A long path goes on in the next line behind a slash, and its lines stay together.
    const steps = showPath(DATA.paths[path]).split("/").flatMap((step, at) => (at ? ["/", el("wbr"), step] : [step]));
    return cited(row.claim + "/" + index, [...steps, el("span", { class: "lines" }, ":" + lines(first, last))], badges, (body) => {
      if (reason) body.append(el("p", { class: "why text" }, show(reason)));
      const around = [Math.max(1, first - 4), last + 4];
      if (moved) {
        body.append(el("p", { class: "why" }, "The lines as cited stand at " + lines(...moved) + " now:"), code(path, [[Math.max(1, moved[0] - 4), moved[1] + 4]], moved, "good"));
        body.append(el("p", { class: "why" }, "At the cited place stands now:"));
      }
      if (DATA.tree && provenance === "not_delivered") body.append(el("p", { class: "why" }, "No answer before the claim delivered " + (first === last ? "this line." : "all of these lines.")));
      body.append(code(path, [around], [first, last], provenance === "not_delivered" ? "bad" : kind === "none" ? "" : kind));
      const seen = seenIn(claim, row, path, first, last);
      if (seen.length) body.append(el("p", { class: "why" }, "Delivered by ", ...seen.slice(0, 5).flatMap((one, at) => [at ? ", " : "", goto(one, show(one.op) + " on line " + one.line)]), seen.length > 5 ? " and more" : ""));
    });
  };
  const FOUND = new Map(DATA.operations.filter(([, unit]) => unit !== null));
  const answer = (claim, row, index) => {
    const [id, line, verdict, reason] = claim.answers[index];
    const kind = ANSWERS[verdict] || "none", word = verdict || "not checked";
    const given = line === null ? null : rowOf(line);
    return cited(row.claim + "/answer/" + index, "answer " + show(id) + (given ? ": " + show(answerText(claim.answers[index]).slice(0, 400)) : ""), [badge(kind, word)], (body) => {
      if (reason) body.append(el("p", { class: "why text" }, show(reason)));
      if (verdict === "partial") body.append(el("p", { class: "why" }, "What such an answer does not show may be there all the same."));
      if (verdict === "not_given") body.append(el("p", { class: "why" }, "No answer with this id and digest stands before the claim."));
      if (given) body.append(el("p", { class: "why" }, "Given by ", goto(given, show(given.op) + " on line " + given.line), FOUND.has(given.op) && given.count !== undefined ? ": " + plural(given.count, FOUND.get(given.op)) : ""));
    });
  };
  const card = (row) => {
    const claim = DATA.claims[row.claim], kind = claimClass(claim), owner = row.owner === undefined ? null : ROWS[row.owner];
    return el("article", { class: "card" + (row.claim === pickedClaim ? " picked" : ""), id: "claim-" + row.claim, css: { "--verdict": "var(--" + kind + ")" } },
      el("header", {}, badge(kind, claimWord(claim)), el("span", { class: "muted" }, clock(row.t) + (owner ? " in " + show(owner.id) : "")), goto(row, "line " + row.line)),
      el("p", { class: "text" }, show(row.text)),
      claim.evidence.length + claim.answers.length ? el("ol", { class: "evidence" }, ...claim.evidence.map((_, index) => evidence(claim, row, index)), ...claim.answers.map((_, index) => answer(claim, row, index))) : claim.search ? null : el("p", { class: "why" }, "It cites nothing."),
      claim.search ? el("p", { class: "why" }, show(claim.search)) : null);
  };
  const WORST_FIRST = ["bad", "warn", "none", "good"];
  const CLAIMS_BY_VERDICT = [...CLAIM_ROWS].sort((a, b) => WORST_FIRST.indexOf(claimClass(DATA.claims[a.claim])) - WORST_FIRST.indexOf(claimClass(DATA.claims[b.claim])) || a.index - b.index);
  const drawClaims = () => {
    const wanted = words(), box = $("claims"), shown = CLAIMS_BY_VERDICT.filter((row) => (claimFilter === "all" || (claimFilter === "holds") === (DATA.claims[row.claim].holds === true)) && wanted.every((word) => haystack(row).includes(word)));
    const holds = DATA.claims.filter((claim) => claim.holds === true).length;
    const filters = [["all", "All " + number(CLAIM_ROWS.length)], ["holds", number(holds) + (holds === 1 ? " checks out" : " check out")], ["fails", number(CLAIM_ROWS.length - holds) + (CLAIM_ROWS.length - holds === 1 ? " fails" : " fail")]];
    fill(box,
      CLAIM_ROWS.length ? null : el("p", { class: "empty" }, "No claim was made in this trace."),
      CLAIM_ROWS.length > 1 && DATA.tree ? el("div", { class: "filter chips", role: "group", "aria-label": "Which claims" }, ...filters.map(([name, text]) => el("button", { type: "button", "aria-pressed": String(claimFilter === name), on: { click: () => { claimFilter = name; drawClaims(); } } }, text))) : null,
      ...shown.slice(0, claimRoom).map(card),
      shown.length > claimRoom ? el("button", { type: "button", on: { click: () => { claimRoom += 500; drawClaims(); } } }, "Show more of " + number(shown.length)) : null);
  };
  const openClaim = (index, unfold) => {
    pickedClaim = index;
    const place = CLAIMS_BY_VERDICT.findIndex((row) => row.claim === index);
    if (place >= claimRoom) claimRoom = place + 50;
    claimFilter = "all";
    if (unfold) for (const [list, key] of [["evidence", "/"], ["answers", "/answer/"]]) DATA.claims[index][list].slice(0, 3).forEach((_, at) => openCards.add(index + key + at));
    drawClaims();
    const node = $("claim-" + index);
    if (node) node.scrollIntoView({ block: "nearest" });
  };

  /* ---------- files: map and list ---------- */

  const probe = document.body.appendChild(el("i", { hidden: true }));
  const colour = (name) => { probe.style.color = "var(" + name + ")"; return getComputedStyle(probe).color; };
  const rgb = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number);
  const mix = (from, to, share) => "rgb(" + from.map((part, at) => Math.round(part + (to[at] - part) * share)).join(" ") + ")";
  const luminance = (parts) => parts.reduce((sum, part, at) => sum + [0.2126, 0.7152, 0.0722][at] * (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4), 0);
  const surface = (canvas) => {
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = Math.max(1, Math.round(width * ratio)); canvas.height = Math.max(1, Math.round(height * ratio));
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    return [pen, width, height];
  };

  /** Directories of the tree with the lines below them. */
  const TREE = (() => {
    const root = { name: "", size: 0, children: new Map() };
    for (const file of FILES) {
      const weight = Math.max(1, file.total === null ? file.delivered : file.total);
      let node = root;
      node.size += weight;
      const steps = file.name.split("/");
      steps.forEach((step, at) => {
        if (at === steps.length - 1) { node.children.set(step, { name: step, size: weight, file }); return; }
        if (!node.children.has(step + "/")) node.children.set(step + "/", { name: step, size: 0, children: new Map() });
        node = node.children.get(step + "/");
        node.size += weight;
      });
    }
    const sort = (node) => { if (node.children) { node.list = [...node.children.values()].sort((a, b) => b.size - a.size || (a.name < b.name ? -1 : 1)); node.list.forEach(sort); } };
    sort(root);
    return root;
  })();
  /** Squarified treemap: rows of boxes as near to squares as they come. */
  const squarify = (nodes, x, y, width, height, place) => {
    let rest = nodes.reduce((sum, node) => sum + node.size, 0), at = 0;
    while (at < nodes.length && width > 0.5 && height > 0.5) {
      const side = Math.min(width, height), scale = (width * height) / rest;
      let sum = 0, end = at, worst = Infinity;
      while (end < nodes.length) {
        const next = sum + nodes[end].size, thick = (next * scale) / side;
        const ratio = Math.max(...[nodes[at].size, nodes[end].size].map((size) => { const long = (size * scale) / thick; return Math.max(long / thick, thick / long); }));
        if (ratio > worst) break;
        worst = ratio; sum = next; end++;
      }
      const thick = (sum * scale) / side;
      let along = 0;
      for (; at < end; at++) {
        const long = (nodes[at].size * scale) / thick;
        if (width >= height) place(nodes[at], x, y + along, thick, long); else place(nodes[at], x + along, y, long, thick);
        along += long;
      }
      if (width >= height) { x += thick; width -= thick; } else { y += thick; height -= thick; }
      rest -= sum;
    }
  };
  let boxes = [], pickedFile = null;
  const drawMap = () => {
    const canvas = $("map");
    if (!canvas.clientWidth) return;
    const [pen, width, height] = surface(canvas);
    const none = rgb(colour("--map-0")), all = rgb(colour("--map-1")), ink = colour("--ink"), muted = colour("--muted");
    boxes = [];
    pen.clearRect(0, 0, width, height);
    pen.textBaseline = "middle";
    const family = getComputedStyle(document.body).fontFamily;
    const clip = (text, room) => {
      if (pen.measureText(text).width <= room) return text;
      let length = text.length;
      while (length > 1 && pen.measureText(text.slice(0, length) + "\u2026").width > room) length--;
      return length > 2 ? text.slice(0, length) + "\u2026" : "";
    };
    const place = (node, x, y, w, h) => {
      if (node.file) {
        const share = node.file.total === null ? 1 : node.file.delivered / Math.max(1, node.file.total);
        const back = share ? 0.14 + 0.86 * share : 0;
        pen.fillStyle = mix(none, all, back);
        const gap = w > 4 && h > 4 ? 1 : 0;
        pen.beginPath(); pen.roundRect(x + gap / 2, y + gap / 2, Math.max(0.4, w - gap), Math.max(0.4, h - gap), w > 14 && h > 14 ? 3 : 0); pen.fill();
        if (node.file === pickedFile) { pen.strokeStyle = ink; pen.lineWidth = 2; pen.stroke(); }
        boxes.push([x, y, w, h, node.file]);
        if (w > 44 && h > 16) {
          pen.font = "11px " + family;
          // The ink that reads better on this shade.
          pen.fillStyle = luminance(rgb(mix(none, all, back))) > 0.19 ? "#161514" : "#ffffff";
          pen.fillText(clip(showPath(node.name), w - 10), x + 5, y + Math.min(h / 2, 11));
        }
        return;
      }
      const label = node.name && w > 50 && h > 34 ? 15 : 0;
      const pad = w > 12 && h > 12 && node.name ? 1.5 : 0;
      if (label) { pen.font = "600 11px " + family; pen.fillStyle = muted; pen.fillText(clip(showPath(node.name) + "/", w - 8), x + 4, y + 8.5); }
      squarify(node.list, x + pad, y + label + pad, w - 2 * pad, h - label - 2 * pad, place);
    };
    if (TREE.size) place(TREE, 0, 0, width, height);
    else { pen.font = "13px " + family; pen.fillStyle = muted; pen.fillText("No file was read.", 12, 20); }
  };
  const boxAt = (event) => boxes.find(([x, y, w, h]) => event.offsetX >= x && event.offsetX < x + w && event.offsetY >= y && event.offsetY < y + h);
  $("map").addEventListener("mousemove", (event) => {
    const box = boxAt(event), tip = $("maptip");
    tip.hidden = !box;
    if (!box) return;
    const file = box[4];
    tip.textContent = showPath(file.name) + " \u00b7 " + shareText(file);
    tip.style.left = Math.max(0, Math.min(event.offsetX + 12, $("map").clientWidth - tip.offsetWidth)) + "px";
    tip.style.top = (event.offsetY > 60 ? event.offsetY - 34 : event.offsetY + 18) + "px";
  });
  $("map").addEventListener("mouseleave", () => { $("maptip").hidden = true; });
  $("map").addEventListener("click", (event) => { const box = boxAt(event); if (box) fileDetail(box[4]); });

  const shareText = (file) => (file.total === null ? plural(file.delivered, "line") + " delivered" : number(file.delivered) + " of " + plural(file.total, "line") + ", " + percent(file.delivered, file.total));
  const filelist = new List($("filelist"), FILE, (file) => el("div", { class: "file" + (file.delivered ? "" : " unread") },
    el("span", { class: "mono arg", title: showPath(file.name) }, ...pathParts(file.name)),
    el("span", { class: "meter" }, el("i", { css: { width: (file.total === null ? 100 : (100 * file.delivered) / Math.max(1, file.total)) + "%" } })),
    el("span", { class: "n" }, file.total === null ? number(file.delivered) : number(file.delivered) + " / " + number(file.total))),
  (file, open) => { pickedFile = file; drawMap(); if (open) fileDetail(file); });
  const READ = FILES.filter((file) => file.delivered);
  const byRead = [...READ].sort((a, b) => b.delivered - a.delivered || (a.name < b.name ? -1 : 1)).concat(FILES.filter((file) => !file.delivered));
  const sortFiles = () => filelist.set($("byread").checked ? byRead : FILES, pickedFile);
  $("byread").addEventListener("change", sortFiles);

  const barcode = (file) => {
    const canvas = el("canvas", { class: "barcode", role: "img", "aria-label": "Which lines were delivered: " + rangesText(file.ranges) });
    requestAnimationFrame(() => {
      const [pen, width, height] = surface(canvas), total = file.total || Math.max(1, ...file.ranges);
      pen.fillStyle = colour("--map-0"); pen.fillRect(0, 0, width, height);
      pen.fillStyle = colour("--map-1");
      for (let at = 0; at < file.ranges.length; at += 2) pen.fillRect(((file.ranges[at] - 1) / total) * width, 0, Math.max(1, ((file.ranges[at + 1] - file.ranges[at] + 1) / total) * width), height);
    });
    return canvas;
  };
  const rangesText = (ranges) => {
    const parts = [];
    for (let at = 0; at < Math.min(ranges.length, 60); at += 2) parts.push(lines(ranges[at], ranges[at + 1]));
    return parts.join(", ") + (ranges.length > 60 ? ", \u2026" : "");
  };
  const fileDetail = (file) => {
    pickedFile = file;
    const pairs = [];
    for (let at = 0; at < file.ranges.length; at += 2) pairs.push([file.ranges[at], file.ranges[at + 1]]);
    const citing = CLAIM_ROWS.filter((row) => DATA.claims[row.claim].evidence.some((one) => one[0] === file.path));
    fill($("detail"),
      el("p", { class: "kicker" }, el("button", { class: "link", type: "button", on: { click: () => choose("files") } }, "\u2190 files"), "file"),
      el("h2", { class: "mono text" }, showPath(file.name)),
      el("p", { class: "muted" }, shareText(file) + (file.ranges.length ? ": " + rangesText(file.ranges) : "")),
      barcode(file),
      citing.length ? el("h3", {}, "Cited by") : null,
      ...citing.slice(0, 20).map((row) => el("p", {}, badge(claimClass(DATA.claims[row.claim]), claimWord(DATA.claims[row.claim])), " ", goto(row, show(row.text).slice(0, 160)))),
      pairs.length ? el("h3", {}, "Delivered lines") : null,
      pairs.length ? code(file.path, pairs, null, "") : null);
    choose("detail");
    $("detail").scrollTop = 0;
    drawMap();
  };

  /* ---------- searches and costs ---------- */

  const drawCosts = () => {
    const totals = new Map(), patterns = new Map();
    for (const row of ROWS) {
      if (row.kind !== "op") continue;
      const one = totals.get(row.op) || { runs: 0, ms: 0, bytes: 0, errors: 0, cut: 0 };
      one.runs++; one.ms += row.ms || 0; one.bytes += row.bytes || 0; one.errors += row.error ? 1 : 0; one.cut += row.cut ? 1 : 0;
      totals.set(row.op, one);
      if (row.op === "grep") { if (!patterns.has(row.args)) patterns.set(row.args, []); patterns.get(row.args).push(row); }
    }
    const cut = ROWS.filter((row) => row.cut), searches = (totals.get("grep") || { runs: 0 }).runs;
    const hidden = (row) => (row.cut.length === 0 || row.cut[0] === null ? "unknown" : (row.cut[1] ? "over " : "") + number(row.cut[0]) + " " + row.cut[2]);
    const table = (heads, rows) => el("table", { class: "table" }, el("thead", {}, el("tr", {}, ...heads.map(([text, kind]) => el("th", { class: kind, scope: "col" }, text)))), el("tbody", {}, ...rows));
    const cell = (text, kind) => el("td", { class: kind || "num" }, text);
    fill($("costs"),
      el("h2", {}, "What it took"),
      table([["operation", ""], ["runs", "num"], ["time", "num"], ["bytes", "num"], ["errors", "num"], ["cut", "num"]],
        [...totals].sort((a, b) => b[1].ms - a[1].ms || (a[0] < b[0] ? -1 : 1)).map(([op, one]) => el("tr", {},
          el("td", {}, el("span", { class: "what" }, el("span", { class: "dot", css: { "--hue": hue(op) } }), show(op))), cell(number(one.runs)), cell(millis(one.ms)), cell(bytes(one.bytes)), cell(one.errors || ""), cell(one.cut || "")))),
      el("h3", {}, number(searches) + (searches === 1 ? " search" : " searches") + (patterns.size === searches ? "" : ", " + number(patterns.size) + " different")),
      patterns.size ? table([["pattern", ""], ["runs", "num"], ["hits", "num"], ["files read", "num"]],
        [...patterns.values()].slice(0, 500).map((rows) => el("tr", {}, el("td", { class: "mono" }, goto(rows[0], show(argText(rows[0])).slice(0, 300))), cell(number(rows.length)), cell(rows[0].count === undefined ? "" : number(rows[0].count)), cell(rows[0].scanned === undefined ? "" : number(rows[0].scanned))))) : null,
      el("h3", {}, cut.length ? plural(cut.length, "answer") + " cut by a limit" : "No answer was cut by a limit"),
      cut.length ? table([["answer", ""], ["shown", "num"], ["withheld", "num"]],
        cut.slice(0, 500).map((row) => el("tr", {}, el("td", { class: "mono" }, goto(row, show(row.op + " " + argText(row)).slice(0, 300))), cell(row.count === undefined ? "" : number(row.count)), cell(hidden(row))))) : null);
    $("tab-costs").querySelector("b").textContent = searches ? number(searches) : "";
  };

  /* ---------- detail of an event ---------- */

  const REPLAY = { same: ["good", "replays the same"], differs: ["bad", "answered otherwise now"], times: ["none", "differs, perhaps only in times"], not_run: ["none", "not run again"] };
  const detail = (row) => {
    const box = $("detail"), owner = row.owner === undefined ? null : ROWS[row.owner];
    const pairs = el("dl", { class: "pairs" });
    const pair = (name, ...value) => pairs.append(el("dt", {}, name), el("dd", { class: "text" }, ...value));
    if (row.id !== undefined) pair("id", el("span", { class: "mono" }, show(row.id)));
    pair("in the trace", row.end === undefined ? "line " + row.line : "lines " + row.line + " and " + row.end);
    if (row.t !== undefined) pair("time", clock(row.t) + " after the start");
    if (owner) pair("part of", goto(owner, show(owner.id) + (owner.text ? ": " + show(owner.text).slice(0, 120) : "")));
    if (row.ms !== undefined) pair("took", millis(row.ms));
    if (row.bytes !== undefined) pair("read", bytes(row.bytes) + " in " + plural(row.scanned, "file"));
    if (row.count !== undefined) pair("found", number(row.count));
    if (row.cut) pair("withheld", row.cut.length === 0 || row.cut[0] === null ? "something; how much is unknown" : (row.cut[1] ? "more than " : "") + number(row.cut[0]) + " " + row.cut[2]);
    const parts = [
      el("p", { class: "kicker" }, row.op ? el("span", { class: "dot", css: { "--hue": hue(row.op) } }) : null, show(label(row) || "?"), row.replay ? badge(...REPLAY[row.replay]) : null, row.error ? badge("bad", show(row.error[0])) : null),
      el("h2", { class: row.kind === "op" ? "mono text" : "text" }, show(row.kind === "op" || row.kind === "open" ? argText(row) || label(row) : row.text || label(row)).slice(0, 2000)),
      row.error ? el("p", { class: "text" }, show(row.error[1])) : null,
      pairs,
    ];
    if (row.kind === "start") {
      const inside = ROWS.filter((one) => one.owner === row.index && one.kind !== "end");
      parts.push(el("h3", {}, plural(inside.length, "event") + " inside"), ...inside.slice(0, 60).map((one) => el("p", {}, goto(one, show(label(one) + "  " + summary(one)).slice(0, 140)))));
    }
    if (row.args !== undefined) parts.push(el("h3", {}, "Arguments"), el("pre", { class: "code json" }, JSON.stringify(DATA.args[row.args], null, 2).split("\n").map((line) => show(line)).join("\n")));
    if (row.seen !== undefined) {
      const flat = DATA.deliveries[row.seen], grouped = new Map();
      for (let at = 0; at < flat.length; at += 3) { if (!grouped.has(flat[at])) grouped.set(flat[at], []); grouped.get(flat[at]).push([flat[at + 1], flat[at + 2]]); }
      parts.push(el("h3", {}, "Delivered lines"));
      for (const [path, wanted] of [...grouped].slice(0, 40)) {
        wanted.sort((a, b) => a[0] - b[0]);
        const file = FILE_OF.get(path);
        parts.push(el("p", {}, el("button", { class: "link mono", type: "button", on: { click: () => file && fileDetail(file) } }, showPath(DATA.paths[path]))), row.replay === "differs" ? el("p", { class: "why" }, "The file has changed since; these are its lines now.") : null, code(path, wanted, null, ""));
      }
      if (grouped.size > 40) parts.push(el("p", { class: "why" }, "and " + plural(grouped.size - 40, "more file")));
    }
    fill(box, ...parts);
    box.scrollTop = 0;
  };

  /* ---------- overview strip ---------- */

  const STRIP = { pad: 10, base: null };
  const stripX = (index, width) => STRIP.pad + (index / Math.max(1, ROWS.length)) * (width - 2 * STRIP.pad);
  const stripBar = (width) => { const step = (width - 2 * STRIP.pad) / Math.max(1, ROWS.length); return Math.max(1, Math.min(14, step - (step > 3 ? 1.5 : 0))); };
  /** The part that stays while one moves about: all bars, subcalls and claims. */
  const drawStripBase = (canvas) => {
    const [pen, width, height] = surface(canvas), step = (width - 2 * STRIP.pad) / Math.max(1, ROWS.length), wide = stripBar(width);
    const bottom = height - 30, most = Math.log1p(maxMs), x = (index) => stripX(index, width);
    const kept = timeline.items.length === ROWS.length ? null : new Set(timeline.items);
    const colours = new Map();
    const ink = (name) => { if (!colours.has(name)) colours.set(name, colour(name)); return colours.get(name); };
    pen.fillStyle = ink("--line"); pen.fillRect(STRIP.pad, bottom + 0.5, width - 2 * STRIP.pad, 1);
    pen.fillStyle = ink("--ink");
    pen.globalAlpha = 0.055;
    for (const row of ROWS) {
      if (row.kind !== "end" || row.owner === undefined) continue;
      const top = 4 + Math.min(30, 6 * ROWS[row.owner].depth);
      pen.beginPath(); pen.roundRect(x(row.owner), top, Math.max(1, x(row.index + 1) - x(row.owner)), bottom - top, 3); pen.fill();
    }
    /* many rows on a pixel: the tallest is drawn */
    const columns = new Map();
    for (const row of ROWS) {
      if (row.kind === "start" || row.kind === "end" || row.kind === "claim") continue;
      const at = step >= 1 ? row.index : Math.floor(x(row.index));
      const tall = 0.12 + 0.88 * (Math.log1p(row.ms || 0) / most), held = columns.get(at), lit = !kept || kept.has(row);
      if (!held || (lit && !held.lit) || (lit === held.lit && tall > held.tall)) columns.set(at, { row, tall, lit });
    }
    for (const { row, tall, lit } of columns.values()) {
      pen.globalAlpha = lit ? 1 : 0.16;
      pen.fillStyle = row.error || row.kind !== "op" ? ink("--bad") : ink("--" + (OPS.includes(row.op) ? row.op : "other"));
      pen.fillRect(x(row.index), bottom - tall * (bottom - 8), wide, tall * (bottom - 8));
    }
    for (const row of CLAIM_ROWS) {
      pen.globalAlpha = !kept || kept.has(row) ? 1 : 0.25;
      pen.fillStyle = ink("--" + claimClass(DATA.claims[row.claim]));
      pen.beginPath(); pen.arc(x(row.index) + wide / 2, bottom + 8, Math.max(2.2, Math.min(4, step * 2)), 0, 7); pen.fill();
    }
    /* the axis: when the events below it happened */
    pen.globalAlpha = 1; pen.fillStyle = ink("--muted"); pen.font = "11px system-ui, sans-serif"; pen.textBaseline = "alphabetic";
    const ticks = Math.min(ROWS.length - 1, Math.max(1, Math.floor(width / 180)));
    for (let tick = 0, last = ""; tick <= ticks && ROWS.length; tick++) {
      const row = ROWS[Math.round((tick * (ROWS.length - 1)) / Math.max(1, ticks))];
      if (row.t === undefined || clock(row.t) === last) continue; // traces have whole seconds
      last = clock(row.t);
      pen.textAlign = tick === 0 ? "left" : tick === ticks ? "right" : "center";
      pen.fillText(clock(row.t), tick === 0 ? STRIP.pad : tick === ticks ? width - STRIP.pad : x(row.index), height - 4);
    }
    STRIP.base = document.createElement("canvas");
    STRIP.base.width = canvas.width; STRIP.base.height = canvas.height;
    STRIP.base.getContext("2d").drawImage(canvas, 0, 0);
  };
  /** With `anew` the whole of it, else only the window in sight and the cursor. */
  const drawStrip = (anew) => {
    const canvas = $("strip");
    if (!canvas.clientWidth) return;
    if (anew || !STRIP.base) drawStripBase(canvas);
    const pen = canvas.getContext("2d"), width = canvas.clientWidth, height = canvas.clientHeight;
    pen.save();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.globalAlpha = 1;
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(STRIP.base, 0, 0);
    pen.restore();
    const { items, box } = timeline, at = (offset) => items[Math.max(0, Math.min(items.length - 1, Math.floor(offset / ROW)))];
    if (items.length && box.clientHeight < items.length * ROW) {
      const first = stripX(at(box.scrollTop).index, width), last = stripX(at(box.scrollTop + box.clientHeight).index + 1, width);
      pen.strokeStyle = colour("--muted"); pen.lineWidth = 1;
      pen.strokeRect(Math.round(first) + 0.5, 1.5, Math.max(3, Math.round(last - first)), height - 3);
    }
    if (picked) { pen.fillStyle = colour("--accent"); pen.fillRect(stripX(picked.index, width) + stripBar(width) / 2 - 0.75, 2, 1.5, height - 4); }
  };
  const fromStrip = (event) => {
    const canvas = $("strip"), share = (event.offsetX - 10) / Math.max(1, canvas.clientWidth - 20);
    const index = Math.max(0, Math.min(ROWS.length - 1, Math.floor(share * ROWS.length)));
    const shown = timeline.items.reduce((best, row) => (Math.abs(row.index - index) < Math.abs(best.index - index) ? row : best), timeline.items[0]);
    if (shown) timeline.reveal(shown, false);
  };
  $("strip").addEventListener("pointerdown", (event) => { fromStrip(event); $("strip").setPointerCapture(event.pointerId); });
  $("strip").addEventListener("pointermove", (event) => { if (event.buttons & 1) fromStrip(event); });

  /* ---------- keys, theme, start ---------- */

  const clearFilters = () => {
    $("search").value = "";
    pressed.clear();
    folded.clear();
    for (const button of $("chips").children) button.setAttribute("aria-pressed", "false");
    refresh();
  };
  const nextOf = (test, step) => {
    const items = timeline.items, from = timeline.at;
    for (let at = (from < 0 && step < 0 ? items.length : from) + step; at >= 0 && at < items.length; at += step) if (test(items[at])) { timeline.reveal(items[at], true); return; }
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    const typing = event.target.matches("input[type=search]");
    if (event.key === "Escape") { if (typing || words().length || pressed.size) { clearFilters(); $("rows").focus(); } return; }
    if (typing) { if (event.key === "Enter" || event.key === "ArrowDown") { timeline.pick(Math.max(0, timeline.at), false); $("rows").focus(); event.preventDefault(); } return; }
    const keys = {
      "/": () => { $("search").focus(); $("search").select(); },
      j: () => timeline.pick(timeline.at + 1, false), k: () => timeline.pick(timeline.at - 1, false),
      c: () => nextOf((row) => row.kind === "claim", 1), C: () => nextOf((row) => row.kind === "claim", -1),
      e: () => nextOf(troubled, 1), E: () => nextOf(troubled, -1),
      x: () => { const row = picked && (picked.kind === "start" ? picked : ROWS[picked.owner]); if (row) { fold(row); timeline.reveal(row, false); } },
      "?": () => $("help").showModal(),
      1: () => choose("claims"), 2: () => choose("files"), 3: () => choose("costs"), 4: () => choose("detail"),
    };
    if (keys[event.key]) { keys[event.key](); event.preventDefault(); }
  });
  $("keys").addEventListener("click", () => $("help").showModal());
  const redraw = () => { drawStrip(true); drawMap(); };
  $("theme").addEventListener("click", () => {
    const root = document.documentElement, next = { undefined: "light", light: "dark", dark: undefined }[root.dataset.theme];
    if (next) root.dataset.theme = next; else delete root.dataset.theme;
    $("theme").textContent = `Theme: ${next || "auto"}`;
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new ResizeObserver(redraw).observe(document.body);

  const ops = ROWS.filter((row) => row.kind === "op"), subcalls = ROWS.filter((row) => row.kind === "start").length;
  const sum = (name) => ops.reduce((total, row) => total + (row[name] || 0), 0);
  const seenLines = FILES.reduce((total, file) => total + file.delivered, 0), allLines = FILES.reduce((total, file) => total + (file.total || 0), 0);
  const held = DATA.claims.filter((claim) => claim.holds === true).length;
  const figure = (name, value, small) => el("div", {}, el("dt", {}, name), el("dd", {}, value, small ? el("small", {}, " " + small) : null));
  $("title").textContent = show(DATA.title);
  $("subtitle").textContent = DATA.start ? DATA.start + " UTC, " + (DATA.seconds ? clock(DATA.seconds) + " long" : "within a second") + (subcalls ? ", " + plural(subcalls, "subcall") : "") : "an empty trace";
  fill($("figures"),
    figure("operations", number(ops.length)), figure("working", millis(sum("ms"))), figure("read", bytes(sum("bytes"))),
    figure("lines delivered", number(seenLines), DATA.tree ? "of " + number(allLines) : ""),
    DATA.claims.length ? figure("claims", DATA.tree ? held + " of " + DATA.claims.length : String(DATA.claims.length), DATA.tree ? "check out" : "not checked") : null);
  const tallest = ROWS.reduce((most, row) => Math.max(most, row.ms || 0), 0);
  $("stripsays").textContent = ops.length ? "Bars are requests in their order, higher the longer they took (at most " + millis(tallest) + ")" + (CLAIM_ROWS.length ? "; dots are claims" : "") + "; a frame marks what the list shows." : "";
  $("tab-claims").querySelector("b").textContent = CLAIM_ROWS.length ? number(CLAIM_ROWS.length) : "";
  // Files that were read, of the text files there are: the header counts the lines of these files.
  const readOf = DATA.tree ? number(READ.length) + " of " + number(FILES.length) : number(READ.length);
  $("tab-files").querySelector("b").textContent = FILES.length ? readOf : "";
  $("binary").textContent = DATA.binary ? plural(DATA.binary, "binary file") + " not listed" : "";
  const notes = [];
  const open = ROWS.filter((row) => row.kind === "open").length;
  if (DATA.problems.length) notes.push(DATA.problems.slice(0, 3).map(([line, , message]) => "Line " + line + ": " + show(message) + ".").join(" ") + (DATA.problems.length > 3 ? " And " + (DATA.problems.length - 3) + " more." : ""));
  if (open) notes.push(plural(open, "request") + " without an answer.");
  if (DATA.text_left_out) notes.push("The text of " + plural(DATA.text_left_out, "line") + " was left out to keep the page small.");
  if (DATA.ranges_left_out) notes.push("Of " + plural(DATA.ranges_left_out, "answer") + " the page does not say which lines they delivered.");
  $("notice").hidden = !notes.length;
  $("notice").textContent = notes.join(" ");
  drawCosts();
  sortFiles();
  fill($("detail"), el("p", { class: "empty" }, "Choose an event or a file."));
  choose(CLAIM_ROWS.length ? "claims" : FILES.length ? "files" : "costs");
  refresh();
  const asked = /^#L(\d+)$/.exec(location.hash);
  const target = asked && ROWS.find((row) => row.line === Number(asked[1]) || row.end === Number(asked[1]));
  if (target) timeline.reveal(target, true);
})();
