"use strict";

// State: the models, the one chosen, what all its labels begin with, its last answer, the labels
// chosen to compare.
const state = { models: [], model: null, start: "", answer: null, pair: [], token: "", asked: 0 };

function drawn(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// The words that all labels begin with, up to the last sign between two words.
function commonStart(labels) {
  const [least, greatest] = [[...labels].sort()[0], [...labels].sort().at(-1)];
  let end = 0;
  while (end < least.length && least[end] === greatest[end]) end += 1;
  const room = Math.min(...labels.map((label) => label.length)) - 1;
  const found = least.slice(0, Math.min(end, room)).match(/^.*[_\-. :/|]/s);
  return labels.length > 1 && found && /[^_\-. :/|]/.test(found[0]) ? found[0] : "";
}

const called = (label) => label.slice(state.start.length);

async function ask(path, options = {}) {
  const headers = { ...(options.headers || {}) };
  if (state.token) headers.authorization = `Bearer ${state.token}`;
  const response = await fetch(path, { ...options, headers });
  if (response.status === 401) at("token-form").hidden = false;
  if (!response.ok) throw new Error(sentence(await response.json(), response.status));
  return response;
}

function sentence(body, status) {
  if (Array.isArray(body.detail)) return body.detail.map((one) => one.msg).join(" ");
  return body.detail || `The service answered ${status}.`;
}

function complain(error) {
  at("problem").textContent = error ? error.message : "";
  at("problem").hidden = !error;
}

// The form

function fields() {
  const form = at("instance");
  form.replaceChildren();
  for (const [index, feature] of state.model.features.entries()) {
    const draw = { category: choice, text: prose, number }[feature.kind];
    form.append(draw(feature, index));
  }
  fill(state.model.example);
}

function choice(feature, index) {
  const select = make("select", { id: `f${index}`, "data-feature": feature.name });
  select.append(make("option", { value: "", text: "(missing)" }));
  for (const category of feature.categories) {
    select.append(make("option", { value: `=${category}`, text: category }));
  }
  const label = make("label", { for: `f${index}` }, ...words(feature.name));
  return make("div", { class: "field" }, label, select);
}

function prose(feature, index) {
  const label = make("label", { for: `f${index}` }, ...words(feature.name));
  const area = make("textarea", { id: `f${index}`, rows: 3, "data-feature": feature.name });
  return make("div", { class: "field" }, label, area);
}

function number(feature, index) {
  const label = make("label", { for: `f${index}` }, ...words(feature.name));
  const box = make("input", {
    id: `f${index}`, type: "number", step: "any", "data-feature": feature.name,
  });
  const field = make("div", { class: "field" }, label, box);
  if (feature.low === null || feature.low === feature.high) return field;
  const slider = make("input", {
    type: "range", min: feature.low, max: feature.high,
    // A step of a width that rounding spoils would keep the slider from its end.
    step: "any", "aria-label": `${feature.name}, slider`,
  });
  slider.addEventListener("input", () => { box.value = short(slider.valueAsNumber); later(); });
  box.addEventListener("input", () => { if (box.value) slider.value = box.value; });
  const range = make("span", {
    class: "range", text: `usually ${short(feature.low)} to ${short(feature.high)}`,
  });
  field.append(slider, range);
  return field;
}

function short(value) {
  return String(Number(value.toPrecision(4)));
}

function fill(example) {
  for (const input of at("instance").querySelectorAll("[data-feature]")) {
    const value = example[input.dataset.feature];
    input.value = input.tagName === "SELECT" ? `=${value}` : value;
    const slider = input.parentElement.querySelector("[type=range]");
    if (slider) slider.value = value;
  }
}

function instance() {
  const values = {};
  for (const input of at("instance").querySelectorAll("[data-feature]")) {
    const text = input.value;
    if (text === "") values[input.dataset.feature] = null;
    else values[input.dataset.feature] =
      { SELECT: text.slice(1), TEXTAREA: text }[input.tagName] ?? Number(text);
  }
  return values;
}

// The answer

async function rank() {
  const mine = ++state.asked;
  const wanted = { model: state.model.name, instances: [instance()] };
  if (state.pair.length === 2) wanted.explain = state.pair;
  try {
    const response = await ask("rank", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(wanted),
    });
    const answer = await response.json();
    if (mine !== state.asked) return; // a later question is under way
    state.answer = answer;
    complain(null);
    show();
  } catch (error) {
    if (mine === state.asked) complain(error);
  }
}

let timer = 0;
function later() {
  clearTimeout(timer);
  timer = setTimeout(rank, 60);
}

function show() {
  const { labels, results: [result], notes } = state.answer;
  const share = shares(labels, result);
  const bars = result.order.map((label) => bar(label, share[label], result));
  const focused = document.activeElement && document.activeElement.dataset.label;
  at("bars").replaceChildren(...bars);
  if (focused) at("bars").querySelector(`[data-label="${CSS.escape(focused)}"]`)?.focus();
  at("summary").textContent = summary(result);
  at("notes").replaceChildren(...notes.map((note) => make("li", { text: note })));
  pairs(labels, result);
  effects(result);
}

function summary(result) {
  const parts = [`${called(result.order[0])} is put first.`];
  if (result.expected_tau !== undefined && result.expected_tau !== null) {
    parts.push(`Expect a Kendall tau of ${result.expected_tau.toFixed(2)} (1 is surely right, 0 is chance).`);
  }
  if (result.top_set) parts.push(`May be first: ${result.top_set.map(called).join(", ")}.`);
  return parts.join(" ");
}

// The mean number of labels beaten, as a share, and its standard deviation if pairs were independent.
function shares(labels, result) {
  const found = {};
  const others = Math.max(1, labels.length - 1);
  labels.forEach((label, i) => {
    const row = result.probabilities ? result.probabilities[i].filter((_, j) => j !== i) : [];
    if (!row.length) {
      found[label] = { mean: (labels.length - result.ranks[label]) / others, spread: 0 };
      return;
    }
    const mean = row.reduce((sum, p) => sum + p, 0) / others;
    const spread = Math.sqrt(row.reduce((sum, p) => sum + p * (1 - p), 0)) / others;
    found[label] = { mean, spread };
  });
  return found;
}

function bar(label, { mean, spread }, result) {
  const picture = drawn("svg", { viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" });
  const low = Math.max(0, mean - spread) * 100;
  const high = Math.min(1, mean + spread) * 100;
  picture.append(
    drawn("line", { class: "axis", x1: 0, x2: 100, y1: 11.5, y2: 11.5 }),
    drawn("rect", { class: "bar", x: 0, y: 1, width: 100 * mean, height: 9 }),
    drawn("line", { class: "spread", x1: low, x2: high, y1: 5.5, y2: 5.5, "vector-effect": "non-scaling-stroke" }),
  );
  const tied = result.buckets
    && Object.values(result.buckets).filter((rank) => rank === result.buckets[label]).length > 1;
  const name = make("span", { class: tied ? "tied" : "" }, `${result.ranks[label]}. `, ...words(called(label)));
  const button = make("button", {
    type: "button", "data-label": label, "aria-pressed": String(state.pair.includes(label)),
  }, make("span", { class: "name" }, name, make("span", { class: "share", text: `${Math.round(100 * mean)} %` })), picture);
  button.addEventListener("click", () => choose(label));
  return make("li", {}, button);
}

function choose(label) {
  if (state.pair.includes(label)) state.pair = state.pair.filter((one) => one !== label);
  else state.pair = [...state.pair.slice(-1), label];
  if (state.pair.length < 2) show();
  else rank();
}

function effects(result) {
  const why = result.explanation;
  if (!why || state.pair.length < 2) {
    at("why-summary").textContent = state.pair.length === 1
      ? `${called(state.pair[0])} and? Choose a second label.` : "Choose two labels of the ranking.";
    at("effects").replaceChildren();
    return;
  }
  // The one that is put first now, whichever was chosen first.
  const sign = result.ranks[why.pair[0]] < result.ranks[why.pair[1]] ? 1 : -1;
  const [first, second] = sign > 0 ? why.pair : [...why.pair].reverse();
  at("why-summary").textContent = `Why ${called(first)} is put before ${called(second)}${chance(first, second)}.`;
  const shown = why.effects.slice(0, 10);
  if (!shown.length) {
    at("effects").replaceChildren(make("p", { class: "hint", text: "No single feature moves the one against the other." }));
    return;
  }
  const largest = Math.max(...shown.map((effect) => Math.abs(effect.amount))) || 1;
  const rows = shown.map((effect) => {
    const amount = sign * effect.amount;
    const bar = make("i", { class: amount > 0 ? "for" : "against" });
    bar.style.width = `${50 * Math.abs(amount) / largest}%`;
    return make("tr", {},
      make("th", { scope: "row" }, ...words(`${effect.feature} = ${value(effect.value)}`)),
      make("td", { class: "amount", text: short3(amount) }),
      make("td", {}, make("span", { class: "both", "aria-hidden": "true" }, bar)));
  });
  const heads = [["", "feature"], ["amount", `effect (${why.unit})`], ["word", `for ${called(second)} ◂ ▸ for ${called(first)}`]];
  at("effects").replaceChildren(make("table", { class: "effects" }, make("caption", { text: why.how }),
    make("thead", {}, make("tr", {}, ...heads.map(
      ([name, text]) => make("th", { scope: "col", class: name }, ...words(text))))),
    make("tbody", {}, ...rows)));
}

function chance(first, second) {
  const { labels, results: [result] } = state.answer;
  if (!result.probabilities) return "";
  const p = result.probabilities[labels.indexOf(first)][labels.indexOf(second)];
  return ` (probability ${p.toFixed(2)})`;
}

function value(given) {
  if (given === null) return "missing";
  return typeof given === "number" ? short(given) : String(given);
}

function short3(amount) {
  return Math.abs(amount) < 0.0005 && amount !== 0 ? amount.toExponential(0) : String(Number(amount.toPrecision(3)));
}

// Pair probabilities: strips of cells, and the numbers.

function pairs(labels, result) {
  if (!result.probabilities) {
    at("pairs").replaceChildren(make("p", { text: "The model is not calibrated: it has no probabilities." }));
    return;
  }
  const place = Object.fromEntries(labels.map((label, index) => [label, index]));
  const before = (row, column) => result.probabilities[place[row]][place[column]];
  const wasOpen = at("pairs").querySelector("details")?.open ?? labels.length <= 8;
  const numbers = make("details", {}, make("summary", { text: "In numbers" }), numbered(result.order, before));
  numbers.open = wasOpen;
  const hint = make("p", { class: "hint" }, "Columns are the labels again, by their place. ",
    make("span", { class: "key p" }), " The label of the row is likelier to come first, ",
    make("span", { class: "key n" }), " likelier to come last; the paler, the nearer to half and half.");
  at("pairs").replaceChildren(hint, strips(result.order, before), numbers);
}

function strips(order, before) {
  const ticks = [...new Set([1, Math.ceil(order.length / 2), order.length])];
  const head = make("tr", {}, make("th", { scope: "col", text: "label" }),
    make("th", { scope: "col", "aria-label": "before the others" }, make("span", { class: "ticks" },
      ...ticks.map((tick) => make("span", { text: tick })))));
  const rows = order.map((row, index) => {
    const picture = drawn("svg", {
      viewBox: `0 0 ${order.length} 1`, preserveAspectRatio: "none", "aria-hidden": "true",
    });
    order.forEach((column, at) => {
      const p = before(row, column);
      if (row !== column) picture.append(drawn("rect", {
        x: at, width: 1, height: 1, class: p >= 0.5 ? "p" : "n", opacity: Math.abs(2 * p - 1).toFixed(2),
      }));
    });
    return make("tr", {}, make("th", { scope: "row" }, `${index + 1}. `, ...words(called(row))), make("td", {}, picture));
  });
  return make("table", { class: "strips" }, make("thead", {}, head), make("tbody", {}, ...rows));
}

function numbered(order, before) {
  const head = make("tr", {}, make("th", { scope: "col", text: "before" }),
    ...order.map((label, index) => make("th", { scope: "col", text: `${index + 1}.`, title: label })));
  const rows = order.map((row, index) => make("tr", {},
    make("th", { scope: "row", text: `${index + 1}. ${called(row)}` }),
    ...order.map((column) => {
      if (row === column) return make("td");
      const p = before(row, column);
      return make("td", { class: p > 0.8 ? "likely" : "", text: p.toFixed(2) });
    })));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Probabilities in numbers" },
    make("table", { class: "dense" }, make("thead", {}, head), make("tbody", {}, ...rows)));
}

// A whole table

async function rankTable(file) {
  if (!file) return;
  at("table-status").textContent = `Ranking ${file.name} ...`;
  at("table").hidden = true;
  const query = new URLSearchParams({ model: state.model.name, output: "order", expected_tau: "true" });
  try {
    const response = await ask(`rank.csv?${query}`, {
      method: "POST", headers: { "content-type": "text/csv" }, body: file,
    });
    preview(await response.text(), file.name);
  } catch (error) {
    at("table-status").textContent = error.message;
  }
}

function preview(text, name) {
  const lines = text.trimEnd().split("\n");
  const link = make("a", { href: `data:text/csv;charset=utf-8,${encodeURIComponent(text)}`,
    download: name.replace(/\.csv$/i, "") + "-ranked.csv", text: "Save the answer" });
  at("table-status").replaceChildren(`${lines.length - 1} rows are ranked. `, link);
  const cells = (line) => line.match(/("([^"]|"")*"|[^,]*)(,|$)/g).slice(0, -1)
    .map((cell) => cell.replace(/,$/, "").replace(/^"|"$/g, "").replaceAll('""', '"'));
  const head = make("tr", {}, ...cells(lines[0] + ",").map((cell) => make("th", { scope: "col", text: cell })));
  const rows = lines.slice(1, 11).map((line) => make("tr", {},
    ...cells(line + ",").map((cell) => make("td", { class: "word", text: cell }))));
  at("table").replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
  at("table").hidden = false;
}

// The beginning

function use(name) {
  state.model = state.models.find((model) => model.name === name);
  state.pair = [];
  at("pairs").replaceChildren();
  state.start = commonStart(state.model.labels);
  at("start").hidden = !state.start;
  at("start").textContent = `All labels begin with “${state.start}”, which is left out here.`;
  fields();
  rank();
}

async function start() {
  try {
    state.models = await (await ask("models")).json();
  } catch (error) {
    complain(error);
    return;
  }
  complain(null);
  at("token-form").hidden = true;
  at("model").replaceChildren(...state.models.map(
    (model) => make("option", { value: model.name, text: `${model.name} (${model.kind})` })));
  use(state.models[0].name);
}

at("model").addEventListener("change", (event) => use(event.target.value));
at("instance").addEventListener("input", later);
at("instance").addEventListener("submit", (event) => event.preventDefault());
at("example").addEventListener("click", () => { fill(state.model.example); rank(); });
at("file").addEventListener("change", (event) => rankTable(event.target.files[0]));
at("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  state.token = at("token").value;
  start();
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  at("drop").addEventListener(kind, (event) => {
    event.preventDefault();
    at("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop") rankTable(event.dataTransfer.files[0]);
  });
}
start();
