// The arrows that open a part of the navigation say what they open.
document.addEventListener("DOMContentLoaded", () => {
  for (const arrow of document.querySelectorAll("nav summary")) {
    const link = arrow.closest("li")?.querySelector("a");
    arrow.setAttribute("aria-label", `Pages of ${link ? link.textContent.trim() : "this part"}`);
  }
});
