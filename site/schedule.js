// Schedules can be stepped through: with the buttons, or the arrow keys where the schedule has the focus. Without
// this script the whole of each is shown.
"use strict";
for (const all of document.querySelectorAll(".schedules")) {
  const figures = [...all.querySelectorAll(".schedule")];
  const bar = document.createElement("div");
  bar.className = "bar";
  const button = (text, label, act) => {
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = text;
    if (label) b.setAttribute("aria-label", label);
    b.addEventListener("click", act);
    bar.append(b);
    return b;
  };
  let figure = figures[0];
  let at = Infinity; // how many rows are shown: all, until somebody steps
  const rows = () => [...figure.querySelectorAll("tbody tr")];
  const show = (to) => {
    const n = rows().length;
    at = Math.max(0, Math.min(to, n));
    rows().forEach((row, i) => {
      row.classList.toggle("later", i >= at);
      row.classList.toggle("now", i === at - 1 && at < n + 1);
    });
    figure.querySelector(".end").classList.toggle("later", at < n);
    said.textContent = at === n ? `all ${n} steps` : `step ${at} of ${n}`;
    back.disabled = at === 0;
    next.disabled = at === n;
    const now = rows()[at - 1];
    if (now && document.activeElement && all.contains(document.activeElement)) now.scrollIntoView({ block: "nearest" });
  };
  const first = button("|◀", "to the beginning", () => show(0));
  const back = button("◀ back", "", () => show(at - 1));
  const next = button("next ▶", "", () => show(at + 1));
  const last = button("all", "show all steps", () => show(Infinity));
  const said = document.createElement("span");
  said.setAttribute("aria-live", "polite");
  bar.append(said);
  const tabs = document.createElement("span");
  tabs.className = "tabs";
  tabs.setAttribute("role", "group");
  tabs.setAttribute("aria-label", "server");
  const choose = (f) => {
    figure = f;
    figures.forEach((other) => { other.hidden = other !== f; });
    [...tabs.children].forEach((b, i) => b.setAttribute("aria-pressed", String(figures[i] === f)));
    show(Infinity);
  };
  for (const f of figures) {
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = f.dataset.engine;
    b.addEventListener("click", () => choose(f));
    tabs.append(b);
  }
  if (figures.length > 1) bar.append(tabs);
  all.prepend(bar);
  all.tabIndex = 0;
  all.setAttribute("role", "group");
  all.setAttribute("aria-label", "a schedule: arrow keys step through it");
  all.addEventListener("keydown", (e) => {
    if (e.target !== all) return; // the buttons have their own keys
    const act = { ArrowRight: () => show(at + 1), ArrowLeft: () => show(at - 1), Home: () => show(0), End: () => show(Infinity) }[e.key];
    if (act) { act(); e.preventDefault(); }
  });
  choose(figures[0]);
}
