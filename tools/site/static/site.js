"use strict";

const { base, version, url } = document.body.dataset;
const byId = (id) => document.getElementById(id);

// Menu and theme.
byId("menu").addEventListener("click", () => {
  const open = document.body.classList.toggle("menu");
  byId("menu").setAttribute("aria-expanded", String(open));
});
byId("theme").addEventListener("click", () => window.changeTheme());

// Versions: the same page where the other version has it.
if (window.siteVersions) {
  const select = byId("version");
  select.replaceChildren(...window.siteVersions.map(({ name }) => new Option(name, name, false, name === version)));
  select.addEventListener("change", () => {
    const other = window.siteVersions.find(({ name }) => name === select.value);
    location.href = `${base}../${other.name}/${other.pages.includes(url) ? url : "index.html"}`;
  });
}

// Copy buttons. Of the screen of a terminal, only the commands are copied.
const commands = (text) => text.split("\n").filter((line) => /^[$❯] /.test(line)).map((line) => line.slice(2)).join("\n");
for (const block of document.querySelectorAll(".code")) {
  const pre = block.querySelector("pre");
  const text = pre.dataset.language === "console" || /^[$❯] /m.test(pre.textContent) ? commands(pre.textContent) : pre.textContent.replace(/\n$/, "");
  if (!text) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await copy(text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.append(button);
}

// A page that was opened as a file may not have the clipboard.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// Search: the index is loaded when it is asked for, and searched here.
const field = byId("search"), results = byId("results");
let loading, chosen = -1;
const load = () => loading ??= new Promise((done, failed) => {
  const script = document.createElement("script");
  script.src = `${base}search-index.js`;
  script.onload = () => done(window.searchIndex.map((entry) => ({
    ...entry,
    title: entry.p.toLowerCase(), heading: (entry.h ?? "").toLowerCase(), text: (entry.x ?? "").toLowerCase(),
  })));
  script.onerror = failed;
  document.head.append(script);
});

const most = 20;

// score is 0 for an entry that lacks a word.
function score(entry, words) {
  let sum = 0;
  for (const word of words) {
    let points = 0;
    if (entry.heading === word || !entry.heading && entry.title === word) points += 60;
    if (entry.heading.includes(word)) points += 30;
    if (entry.title.includes(word)) points += entry.heading ? 8 : 30;
    const at = entry.text.indexOf(word);
    if (at >= 0) points += 4 + Math.min(4, entry.text.split(word).length - 1);
    if (points === 0) return 0;
    sum += points;
  }
  const phrase = words.join(" ");
  if (words.length > 1 && (entry.heading.includes(phrase) || entry.text.includes(phrase))) sum += 25;
  return sum;
}

function find(index, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return index.map((entry) => ({ entry, points: score(entry, words) })).filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points).slice(0, most).map(({ entry }) => ({ entry, words }));
}

function marked(text, words) {
  const long = words.filter((word) => word.length > 2);
  if (long.length === 0) return [document.createTextNode(text)];
  const pattern = new RegExp(`(${long.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "ig");
  return text.split(pattern).map((part, i) => {
    if (i % 2 === 0) return document.createTextNode(part);
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
}

function snippet(entry, words) {
  const text = entry.x ?? "";
  const at = Math.max(0, Math.min(...words.map((word) => entry.text.indexOf(word)).filter((i) => i >= 0).concat(text.length)));
  const from = Math.max(0, (at === text.length ? 0 : at) - 40);
  return (from > 0 ? "… " : "") + text.slice(from, from + 140);
}

function element(name, className, ...content) {
  const made = document.createElement(name);
  made.className = className;
  made.append(...content);
  return made;
}

function result({ entry, words }, i) {
  const link = document.createElement("a");
  link.href = base + entry.u;
  link.tabIndex = -1;
  const title = entry.h ? `${entry.p} › ${entry.h}` : entry.p;
  link.append(element("b", "", ...marked(title, words)), element("span", "section", entry.s ?? ""), element("span", "snippet", ...marked(snippet(entry, words), words)));
  const item = element("li", "", link);
  item.id = `result-${i}`;
  item.setAttribute("role", "option");
  return item;
}

function choose(i) {
  const items = [...results.querySelectorAll("[role=option]")];
  chosen = items.length ? (i + items.length) % items.length : -1;
  items.forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
  if (chosen >= 0) {
    field.setAttribute("aria-activedescendant", items[chosen].id);
    items[chosen].scrollIntoView({ block: "nearest" });
  }
}

function close() {
  results.hidden = true;
  field.setAttribute("aria-expanded", "false");
}

async function search() {
  const query = field.value.trim();
  if (!query) return close();
  const found = find(await load(), query);
  if (field.value.trim() !== query) return; // a later search shows its own
  results.replaceChildren(...(found.length ? found.map(result) : [element("li", "nothing", `Nothing is found for “${query}”.`)]));
  results.hidden = false;
  field.setAttribute("aria-expanded", "true");
  choose(0);
}

field.addEventListener("focus", load);
field.addEventListener("input", search);
field.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") choose(chosen + 1);
  else if (event.key === "ArrowUp") choose(chosen - 1);
  else if (event.key === "Enter") results.querySelector("[aria-selected=true] a")?.click();
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    field.focus();
  }
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) close();
  if (event.target.closest("#results a")) close();
});

// The menu shows where the page is.
document.querySelector("#nav [aria-current]")?.scrollIntoView({ block: "nearest" });
