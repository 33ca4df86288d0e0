// Opens the menu on wide screens, at this page, and searches: the index is read when somebody first types.
"use strict";
const root = document.currentScript.dataset.root;
const menu = document.getElementById("menu");
const wide = matchMedia("(min-width: 56rem)");
const follow = () => {
  menu.open = wide.matches;
  const nav = menu.querySelector("nav"), here = nav.querySelector("[aria-current]");
  if (wide.matches && here) nav.scrollTop = here.offsetTop - nav.clientHeight / 3;
};
follow();
wide.addEventListener("change", follow);

const query = document.getElementById("query");
const found = document.getElementById("found");
let index;

// score is how well a section fits: each word must be there, in the title it counts more.
function score(section, words) {
  const title = section.title.toLowerCase(), page = section.page.toLowerCase();
  let sum = 0;
  for (const word of words) {
    let n = 0;
    if (title === word || title.endsWith("." + word)) n += 60;
    if (title.includes(word)) n += 20;
    if (page.includes(word)) n += 4;
    n += Math.min(section.lower.split(word).length - 1, 5);
    if (n === 0) return 0;
    sum += n;
  }
  return sum;
}

function show(words) {
  found.replaceChildren();
  const hits = index.map(s => [score(s, words), s]).filter(h => h[0] > 0).sort((a, b) => b[0] - a[0]).slice(0, 12);
  for (const [, section] of hits) {
    const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("small");
    const at = Math.max(0, section.lower.indexOf(words[0]) - 40);
    link.href = root + section.url;
    link.textContent = section.title === section.page ? section.title : section.page + " › " + section.title;
    text.textContent = (at > 0 ? "… " : "") + section.text.slice(at, at + 140);
    link.append(text);
    item.append(link);
    found.append(item);
  }
  if (hits.length === 0) {
    const nothing = document.createElement("p");
    nothing.textContent = "Nothing has all of these words.";
    found.append(nothing);
  }
  found.hidden = false;
}

async function search() {
  const words = query.value.toLowerCase().split(/\s+/).filter(w => w.length > 1);
  if (words.length === 0) { found.hidden = true; return; }
  if (!index) {
    try {
      const sections = await (await fetch(root + "search.json")).json();
      index = sections.map(s => ({ ...s, lower: s.text.toLowerCase() }));
    } catch {
      found.replaceChildren(Object.assign(document.createElement("p"), { textContent: "The index cannot be read. (From a file: make site ARGS='-serve :8000'.)" }));
      found.hidden = false;
      return;
    }
  }
  show(words);
}
query.addEventListener("input", search);

document.addEventListener("keydown", event => {
  const links = [...found.querySelectorAll("a")], at = links.indexOf(document.activeElement);
  if (event.key === "/" && document.activeElement !== query) { query.focus(); event.preventDefault(); }
  if (event.key === "Escape") { found.hidden = true; query.focus(); }
  if (!found.hidden && event.key === "ArrowDown") { (links[at + 1] ?? links[0])?.focus(); event.preventDefault(); }
  if (!found.hidden && event.key === "ArrowUp") { (links[at - 1] ?? query).focus(); event.preventDefault(); }
  if (!found.hidden && event.key === "Enter" && document.activeElement === query && links[0]) location = links[0].href;
});
document.addEventListener("click", event => { if (!event.target.closest(".search")) found.hidden = true; });
