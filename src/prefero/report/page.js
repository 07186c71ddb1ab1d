"use strict";

(() => {
// The leaderboard: a click on the head of a column sorts by it, a second one the other way round.

function sort(table, head, index) {
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const value = (row) => {
    const number = Number.parseFloat(row.cells[index].dataset.value);
    return Number.isNaN(number) ? Infinity : down ? -number : number;
  };
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    return a === b ? 0 : a - b;
  });
  table.tBodies[0].append(...rows);
}

function sortable(table) {
  [...table.tHead.rows[0].cells].forEach((head, index) => {
    const button = make("button", { type: "button", text: head.textContent });
    button.addEventListener("click", () => sort(table, head, index));
    head.replaceChildren(button);
  });
  table.caption.textContent += "; a heading sorts by its column";
}

// Rows to pick. Places are those among the items whose true rank is known.

function places(ranks, known) {
  return ranks.map((rank, i) => {
    if (!known[i]) return null;
    const below = ranks.filter((other, j) => known[j] && other < rank).length;
    const level = ranks.filter((other, j) => known[j] && other === rank).length;
    return below + (level + 1) / 2;
  });
}

function track(truth, predicted, count) {
  const left = (place) => 100 * (place - 1) / Math.max(1, count - 1);
  const box = make("span", { class: "track", "aria-hidden": "true" });
  const put = (name, from, width) => {
    const mark = make("i", { class: name });
    mark.style.left = `${from}%`;
    if (width !== undefined) mark.style.width = `${width}%`;
    box.append(mark);
  };
  const ends = [left(truth), left(predicted)];
  put("line", Math.min(...ends), Math.abs(ends[0] - ends[1]));
  put("hollow", ends[0]);
  put("dot", ends[1]);
  return box;
}

function written(place) {
  return place === null ? "–" : String(Number(place.toFixed(1)));
}

function ranking(items, row) {
  const known = row.true.map((rank) => rank !== null);
  const count = known.filter(Boolean).length;
  const truth = places(row.true, known);
  const among = places(row.predicted, known);
  const order = items.map((_, i) => i).sort((i, j) => row.predicted[i] - row.predicted[j]);
  const lines = order.map((i) => make("tr", {},
    make("th", { scope: "row" }, ...words(items[i])),
    make("td", { class: "rank said", text: written(row.predicted[i]) }),
    make("td", { class: "rank", text: written(truth[i]) }),
    make("td", {}, ...(known[i] ? [track(truth[i], among[i], count)] : []))));
  const heads = [["", row.item || "label"], ["rank said", "predicted"], ["rank", "true"], ["", "first to last"]];
  return make("table", { class: "places" },
    make("thead", {}, make("tr", {}, ...heads.map(
      ([name, text]) => make("th", { scope: "col", class: name, text })))),
    make("tbody", {}, ...lines));
}

function legend(...entries) {
  return make("p", { class: "legend" }, ...entries.map(([name, text]) =>
    make("span", {}, make("span", { class: "track", "aria-hidden": "true" }, make("i", { class: name })), text)));
}

function effects(why) {
  const largest = Math.max(...why.effects.map(([, , amount]) => Math.abs(amount))) || 1;
  const lines = why.effects.map(([feature, value, amount]) => {
    const bar = make("i", { class: amount > 0 ? "for" : "against" });
    bar.style.width = `${50 * Math.abs(amount) / largest}%`;
    return make("tr", {},
      make("th", { scope: "row" }, ...words(value === "" ? feature : `${feature} = ${value}`)),
      make("td", { class: "number", text: String(amount) }),
      make("td", {}, make("span", { class: "both", "aria-hidden": "true" }, bar)));
  });
  const heads = [["", "feature"], ["number", "effect"], ["", `for ${why.pair[1]} ◂ ▸ for ${why.pair[0]}`]];
  return make("table", { class: "effects" }, make("caption", { text: why.how }),
    make("thead", {}, make("tr", {}, ...heads.map(
      ([name, text]) => make("th", { scope: "col", class: name }, ...words(text))))),
    make("tbody", {}, ...lines));
}

function evidence(shown) {
  const cells = (values, tag) => values.map((text) => make(tag, { text }));
  return make("details", {}, make("summary", { text: "What the ranker shows" }),
    make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": shown.title },
      make("table", {}, make("caption", {}, make("span", { text: shown.title })),
        make("thead", {}, make("tr", {}, ...cells(shown.columns, "th"))),
        make("tbody", {}, ...shown.rows.map((row) => make("tr", {}, ...cells(row, "td")))))));
}

function show(data, row) {
  const facts = [[data.metric, row.value.toFixed(3)], ...row.facts];
  const parts = [
    make("h3", { text: `${data.noun} ${row.name}` }),
    make("dl", {}, ...facts.flatMap(([name, text]) => [make("dt", { text: name }), make("dd", { text })])),
    ranking(row.items || data.items, row),
    legend(["dot", "predicted"], ["hollow", "true"]),
  ];
  if (row.true.includes(null)) {
    parts.push(make("p", { class: "soft", text: "Without a mark: not ranked in the data. True places are those among the ranked." }));
  }
  if (row.why) {
    parts.push(make("h4", { text: row.why.words }));
    if (row.why.effects.length) parts.push(effects(row.why));
    else parts.push(make("p", { class: "soft", text: "No single feature moves the one against the other here." }));
    if (row.why.evidence) parts.push(evidence(row.why.evidence));
  } else if (data.unexplained) parts.push(make("p", { class: "soft", text: data.unexplained }));
  at("picked").replaceChildren(...parts);
}

function picker(data) {
  const select = at("pick");
  const last = data.rows.length - 1;
  select.append(...data.rows.map((row, i) => make("option", {
    value: i, text: `${row.name}: ${data.metric} ${row.value.toFixed(3)}${row.why ? ", explained" : ""}`,
  })));
  const go = (index) => {
    const place = Math.min(last, Math.max(0, index));
    select.value = place;
    at("earlier").disabled = place === 0;
    at("later").disabled = place === last;
    show(data, data.rows[place]);
  };
  const typical = Math.floor(data.rows.length / 2);
  select.addEventListener("change", () => go(Number(select.value)));
  at("worst").addEventListener("click", () => go(0));
  at("typical").addEventListener("click", () => go(typical));
  at("best").addEventListener("click", () => go(last));
  at("earlier").addEventListener("click", () => go(Number(select.value) - 1));
  at("later").addEventListener("click", () => go(Number(select.value) + 1));
  at("picker").hidden = false;
  go(typical);
}

sortable(at("board"));
const data = JSON.parse(at("rows-data").textContent);
if (data.rows.length) picker(data);
})();
