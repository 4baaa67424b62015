"use strict";
/* Opens what a number is made of: its records, and of each record the lines of the raw bundle. Everything is put on the
   page as text (textContent), never as HTML. */
(() => {
  const DATA = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const panel = $("panel");
  const FEW = 400;

  const el = (tag, className, ...children) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  const plural = (count, noun) => count + " " + noun + (count === 1 ? "" : "s");
  const TONE = { counted: "good", exact: "good", folded: "good", elided: "good", invalid: "bad", absent: "bad", other_artifact: "bad", empty: "bad", self_judged: "warn", diagnostic: "warn", off_scale: "warn", other_judge_kind: "warn", not_checked: "warn" };
  const badge = (word) => el("span", "badge " + (TONE[word] || ""), word);
  const button = (text, action) => {
    const node = el("button", "more", text);
    node.type = "button";
    node.addEventListener("click", action);
    return node;
  };

  /** Lines of a raw bundle; `hits` are pairs of first and last line to mark. */
  const raw = (number, first, last, hits) => {
    const bundle = DATA.bundles[number];
    const box = el("div", "raw");
    if (!bundle.lines) {
      box.append(el("div", "", el("span"), el("span", "", "not in the page: it is no text, or the page would be too large; normalizer restore LEDGER " + bundle.sha256.slice(0, 12))));
      return box;
    }
    for (let at = first; at <= Math.min(last, first + FEW - 1); at++) {
      const hit = hits.some(([from, to]) => from <= at && at <= to);
      box.append(el("div", hit ? "hit" : "", el("span", "", String(at)), el("span", "", bundle.lines[at - 1])));
    }
    if (last - first >= FEW) box.append(el("div", "", el("span"), el("span", "", "\u2026 to line " + last)));
    return box;
  };

  const rawOf = (number, first, last, hits) => {
    const bundle = DATA.bundles[number];
    const holder = el("div", "", raw(number, first, last, hits));
    if (bundle.lines && (first > 1 || last < bundle.lines.length)) {
      const grow = button("more lines around", () => {
        first = Math.max(1, first - 10);
        last = Math.min(bundle.lines.length, last + 10);
        holder.firstChild.replaceWith(raw(number, first, last, hits));
        if (first === 1 && last === bundle.lines.length) grow.remove();
      });
      holder.append(grow);
    }
    return holder;
  };

  const pairs = (list) => {
    const node = el("dl", "pairs");
    for (const [name, value] of list) node.append(el("dt", "", name), el("dd", "", value));
    return node;
  };

  const inner = (record) => {
    const node = el("div", "inner");
    const bundle = DATA.bundles[record.bundle];
    if (record.reasons.length) {
      node.append(el("h4", "", "Why it is INVALID"));
      for (const [code, message, first] of record.reasons) node.append(el("p", "quote", el("span", "badge bad", code), " " + message + " (line " + first + ")"));
    }
    if (record.verdict) node.append(el("h4", "", "Verdict"), pairs(record.verdict));
    else node.append(el("h4", "", "Scores"), pairs([...record.scores, ["total (recomputed)", record.total === null ? "NA" : record.total]]));
    if (record.evidence.length) {
      node.append(el("h4", "", "Evidence"));
      for (const [dimension, quote, verdict, others] of record.evidence) {
        node.append(el("p", "quote", verdict ? badge(verdict) : null, " " + dimension + ": ", el("q", "", quote), others.length ? " \u2014 found in " + others.join(", ") : ""));
      }
    }
    node.append(el("h4", "", "Raw bundle " + bundle.sha256.slice(0, 12) + ", " + record.pointer + ", lines " + record.lines[0] + " to " + record.lines[1]));
    node.append(rawOf(record.bundle, record.lines[0], record.lines[1], record.reasons.map((reason) => [reason[2], reason[3]])));
    node.append(el("h4", "", "Record"), pairs([["record_id", record.id], ...record.about]));
    return node;
  };

  const row = (record) => {
    const node = el("details");
    node.dataset.id = record.id;
    const sum = el("span", "sum", record.verdict ? record.verdict[0][1] : record.total === null ? "\u2013" : record.total);
    const reasons = record.reasons.length ? el("span", "why", [...new Set(record.reasons.map(([code]) => code))].join(", ")) : null;
    const state = el("span", "", record.role ? badge(record.role) : null, record.role ? " " : null, badge(record.status));
    node.append(el("summary", "", el("span", "what", record.artifact), el("span", "who", record.judge), reasons, state, sum));
    node.addEventListener("toggle", () => { if (node.open && node.childElementCount === 1) node.append(inner(record)); });
    return node;
  };

  const fill = (title, numbers, spots) => {
    const records = numbers.map((number) => DATA.records[number]);
    $("panel-title").textContent = title;
    const counted = records.filter((record) => record.status === "counted").length;
    $("panel-said").textContent = records.length ? plural(records.length, "record") + (counted === records.length ? ", all counted" : counted ? ", " + counted + " counted" : "") + ". Open one for its scores, evidence and raw lines." : "";
    $("panel-spots").replaceChildren(...spots.map(([bundle, [first, last]]) => el("div", "inner", el("h4", "", "Raw bundle " + DATA.bundles[bundle].sha256.slice(0, 12) + ", line " + first), rawOf(bundle, first, last, [[first, last]]))));
    const list = $("panel-records");
    list.replaceChildren();
    let shown = 0;
    const show = () => {
      const next = records.slice(shown, shown + FEW);
      shown += next.length;
      list.append(...next.map(row));
      if (shown < records.length) {
        const more = button("show " + Math.min(FEW, records.length - shown) + " more of " + records.length, () => { more.remove(); show(); });
        list.append(more);
      }
    };
    show();
    address = location.hash;
    if (!panel.open) panel.showModal();
    panel.scrollTop = 0;
  };

  /* The browser tells that a panel closed a moment later, when a quick hand has already asked for the next number:
     only the address of what was open is taken away, and at once where a button closed it. */
  let address = "";
  const forget = () => {
    if (address && location.hash === address) history.replaceState(null, "", location.pathname + location.search);
    address = "";
  };
  const close = () => { forget(); panel.close(); };

  /* An address such as #t3 or #r-1234 opens what it names. */
  const go = () => {
    const trail = /^#t(\d+)$/.exec(location.hash);
    const wanted = /^#r-([0-9a-f]+)$/.exec(location.hash);
    if (trail && DATA.trails[+trail[1]]) {
      const { title, records, spots } = DATA.trails[+trail[1]];
      fill(title, records, spots);
    } else if (wanted) {
      const at = DATA.records.findIndex((record) => record.id.startsWith(wanted[1]));
      if (at >= 0) {
        fill("Record " + DATA.records[at].id, [at], []);
        panel.querySelector("details").open = true;
      }
    } else if (panel.open) panel.close();
  };
  document.addEventListener("click", (event) => {
    const number = event.target.closest(".n[data-t]");
    if (number) location.hash = "t" + number.dataset.t;
    if (event.target === panel) close();
  });
  $("theme").addEventListener("click", () => {
    const root = document.documentElement, next = { undefined: "light", light: "dark", dark: undefined }[root.dataset.theme];
    if (next) root.dataset.theme = next; else delete root.dataset.theme;
    $("theme").textContent = `Theme: ${next || "auto"}`;
  });
  $("panel-close").addEventListener("click", close);
  panel.addEventListener("close", () => { if (!panel.open) forget(); });
  window.addEventListener("hashchange", go);
  go();
})();
