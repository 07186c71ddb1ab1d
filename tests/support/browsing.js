() => {
  const faults = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) faults.push("the page scrolls sideways");

  const rolls = (element) => element.closest(".scroll, pre, select, svg") !== null;
  const parts = (colour) => {
    const found = colour.match(/[\d.]+/g).map(Number);
    const unit = colour.startsWith("color(") ? 1 : 255;
    return { rgb: found.slice(0, 3).map((one) => one / unit), alpha: found[3] ?? 1 };
  };
  const over = (top, below) => top.rgb.map((one, i) => top.alpha * one + (1 - top.alpha) * below[i]);
  const ground = (element) => {
    if (element === null) return [1, 1, 1];
    const own = parts(getComputedStyle(element).backgroundColor);
    return own.alpha === 1 ? own.rgb : over(own, ground(element.parentElement));
  };
  const brightness = (rgb) => {
    const [r, g, b] = rgb.map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [brightness(one), brightness(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (texts.nextNode()) {
    const text = texts.currentNode;
    const element = text.parentElement;
    if (!text.data.trim() || element.closest("script, style, noscript, .unseen, .skip, option")) continue;
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    const look = getComputedStyle(element);
    // Words: what a line may be broken between is no word.
    for (const { 0: word, index } of text.data.matchAll(/[^\s\-–—/…]+/g)) {
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const boxes = [...range.getClientRects()].filter((box) => box.width > 0);
      if (!boxes.length) continue;
      const told = `${word} in ${element.tagName} ${element.className.baseVal ?? element.className}`;
      const tops = boxes.map((box) => box.top);
      if (Math.max(...tops) - Math.min(...tops) > 2 && word.length < 24) faults.push(`broken: ${told}`);
      if (!rolls(element) && Math.max(...boxes.map((box) => box.right)) > width + 1) faults.push(`outside: ${told}`);
      const box = element.closest("td, th, li, button, dd, p");
      if (box && !rolls(element) && boxes.some((one) => one.right > box.getBoundingClientRect().right + 1)) {
        faults.push(`wider than its place: ${told}`);
      }
    }
    const inked = element.closest("svg") ? look.fill : look.color;
    const large = parseFloat(look.fontSize) >= 24 || (parseFloat(look.fontSize) >= 18.6 && look.fontWeight >= 700);
    const behind = ground(element.closest("svg")?.parentElement ?? element);
    const disabled = element.closest(":disabled") !== null;
    const ratio = contrast(over(parts(inked), behind), behind);
    if (!disabled && ratio < (large ? 3 : 4.5)) faults.push(`pale (${ratio.toFixed(1)}): ${text.data.trim().slice(0, 40)}`);
  }
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest("svg, .scroll, .unseen, pre, select, script") || !element.checkVisibility()) continue;
    const look = getComputedStyle(element);
    // What is clipped away is there for those who listen.
    const cut = look.overflowX !== "visible" && look.clipPath === "none" && element.scrollWidth > element.clientWidth + 1;
    if (cut && element.tagName !== "INPUT") faults.push(`cut: ${element.outerHTML.slice(0, 120)}`);
  }
  return [...new Set(faults)];
}
