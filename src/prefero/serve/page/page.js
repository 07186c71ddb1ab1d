"use strict";

// State: the models, the one chosen, its last answer, the labels chosen to compare.
const state = { models: [], model: null, answer: null, pair: [], token: "", asked: 0 };
const at = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function drawn(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

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
  const label = make("label", { for: `f${index}`, text: feature.name });
  return make("div", { class: "field" }, label, select);
}

function prose(feature, index) {
  const label = make("label", { for: `f${index}`, text: feature.name });
  const area = make("textarea", { id: `f${index}`, rows: 3, "data-feature": feature.name });
  return make("div", { class: "field" }, label, area);
}

function number(feature, index) {
  const label = make("label", { for: `f${index}`, text: feature.name });
  const box = make("input", {
    id: `f${index}`, type: "number", step: "any", "data-feature": feature.name,
  });
  const field = make("div", { class: "field" }, label, box);
  if (feature.low === null || feature.low === feature.high) return field;
  const slider = make("input", {
    type: "range", min: feature.low, max: feature.high,
    step: (feature.high - feature.low) / 200, "aria-label": `${feature.name}, slider`,
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
  const parts = [`${result.order[0]} is put first.`];
  if (result.reliability !== undefined && result.reliability !== null) {
    parts.push(`Expect a Kendall tau of ${result.reliability.toFixed(2)} (1 is surely right, 0 is chance).`);
  }
  if (result.first_set) parts.push(`May be first: ${result.first_set.join(", ")}.`);
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
  const picture = drawn("svg", { viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": "true" });
  const low = Math.max(0, mean - spread) * 100;
  const high = Math.min(1, mean + spread) * 100;
  picture.append(
    drawn("line", { class: "axis", x1: 0, x2: 100, y1: 13.5, y2: 13.5 }),
    drawn("rect", { class: "bar", x: 0, y: 2, width: 100 * mean, height: 9 }),
    drawn("line", { class: "spread", x1: low, x2: high, y1: 6.5, y2: 6.5, "vector-effect": "non-scaling-stroke" }),
  );
  const tied = result.buckets
    && Object.values(result.buckets).filter((rank) => rank === result.buckets[label]).length > 1;
  const name = make("span", { class: tied ? "tied" : "", text: `${result.ranks[label]}. ${label}` });
  const button = make("button", {
    type: "button", "data-label": label, "aria-pressed": String(state.pair.includes(label)),
  }, make("span", { class: "name" }, name, make("span", { text: `${Math.round(100 * mean)} %` })), picture);
  button.addEventListener("click", () => choose(label));
  return make("li", {}, button);
}

function choose(label) {
  if (state.pair.includes(label)) state.pair = state.pair.filter((one) => one !== label);
  else state.pair = [...state.pair.slice(-1), label];
  if (state.pair.length < 2) show();
  rank();
}

function effects(result) {
  const why = result.explanation;
  if (!why || state.pair.length < 2) {
    at("verdict").textContent = state.pair.length === 1
      ? `${state.pair[0]} and? Choose a second label.` : "Choose two labels of the ranking.";
    at("effects").replaceChildren();
    return;
  }
  at("verdict").textContent = why.verdict;
  const head = make("tr", {}, ...["feature", "value", "effect", "speaks for"].map(
    (text) => make("th", { scope: "col", text })));
  const rows = why.effects.slice(0, 10).map((effect) => make("tr", {},
    make("th", { scope: "row", text: effect.feature }),
    make("td", { text: shown(effect.value) }),
    make("td", { text: effect.amount.toPrecision(3) }),
    make("td", { class: "word", text: effect.amount === 0 ? "" : why.pair[effect.amount > 0 ? 0 : 1] }),
  ));
  at("effects").replaceChildren(make("table", {}, make("caption", { text: why.how }),
    make("thead", {}, head), make("tbody", {}, ...rows)));
}

function shown(value) {
  if (value === null) return "missing";
  return typeof value === "number" ? short(value) : String(value);
}

function pairs(labels, result) {
  if (!result.probabilities) {
    at("pairs").replaceChildren(make("p", { text: "The model is not calibrated." }));
    return;
  }
  const place = Object.fromEntries(labels.map((label, index) => [label, index]));
  const head = make("tr", {}, make("th", { scope: "col", text: "before" }),
    ...result.order.map((label, index) => make("th", {
      scope: "col", text: `${index + 1}.`, title: label, "aria-label": label,
    })));
  const rows = result.order.map((row, index) => make("tr", {},
    make("th", { scope: "row", text: `${index + 1}. ${row}` }),
    ...result.order.map((column) => {
      if (row === column) return make("td");
      const p = result.probabilities[place[row]][place[column]];
      return make("td", { class: p > 0.8 ? "likely" : "", text: p.toFixed(2) });
    })));
  at("pairs").replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}

// A whole table

async function rankTable(file) {
  if (!file) return;
  at("table-status").textContent = `Ranking ${file.name} ...`;
  at("table").hidden = true;
  const query = new URLSearchParams({ model: state.model.name, output: "order", reliability: "true" });
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
