"use strict";

// What all pages are built from: elements by their names, new ones, and names that may break.

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

// A name that may be broken between its words, not in the middle of one.
function words(name) {
  const parts = String(name).split(/(?<=[_./:-])(?=\p{L})/u);
  return parts.flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part]));
}
