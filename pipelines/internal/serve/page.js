"use strict";
const $ = id => document.getElementById(id);

// Names are inserted as text, never as markup. Characters that a browser obeys instead of showing them are replaced by their
// escapes, as in all other output (formats/names).
const obeyed = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const letters = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r"};
function visible(name) {
  return name.replace(obeyed, c => {
    const code = c.charCodeAt(0), digits = code.toString(16);
    return "\\" + (letters[code] || (code < 128 ? "x" + digits.padStart(2, "0") : "u" + digits.padStart(4, "0")));
  });
}

// shorten leaves out the middle of a long text.
function shorten(text, most) {
  const all = [...text], tail = Math.floor(most / 3);
  return all.length <= most ? text : all.slice(0, most - 1 - tail).join("") + "\u2026" + all.slice(all.length - tail).join("");
}

function make(tag, text, attributes) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  return element;
}

// named returns an element with a name, which has its own direction of writing. All of a long name is shown by a pointer.
const longName = 100;
function named(name, most = longName, tag = "bdi") {
  const text = visible(name), short = shorten(text, most);
  return make(tag, short, short === text ? {dir: "auto"} : {dir: "auto", title: shorten(text, 2000)});
}

const number = (value, digits) => value.toFixed(digits).replace("-", "\u2212");
const plural = (n, one, many) => n.toLocaleString("en") + " " + (n === 1 ? one : many);

// parsed returns the name of a relation without the leading ~ of an inverse one, and whether it has that.
const parsed = relation => relation.startsWith("~") ? [relation.slice(1), true] : [relation, false];

// get asks the server, or sends it what a person says. What it throws is for the user; retry says that the same request may succeed later.
async function get(path, parameters, signal, said) {
  const search = new URLSearchParams(parameters).toString();
  let response;
  try {
    response = await fetch(path + (search && "?" + search), said ? {method: "POST", body: JSON.stringify(said), signal} : {signal});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw {error: "The server does not answer. Is it still running?", retry: true};
  }
  let body;
  try {
    body = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw {error: "The server answered with status " + response.status + ", and what follows cannot be read.", retry: true};
  }
  if (!response.ok) throw {...body, retry: response.status >= 429};
  return body;
}

// complain shows a problem, with the names that may have been meant, or a button that tries again.
function complain(problem, again, choose) {
  const box = make("div", problem.error, {class: "alert"});
  const offer = (label, act) => {
    const button = make("button", undefined, {type: "button"});
    button.append(label);
    button.addEventListener("click", act);
    box.append(button);
  };
  if (problem.retry || choose && problem.closest) box.append(make("br"));
  if (problem.retry) offer("Try again", again);
  else if (choose) for (const name of problem.closest || []) offer(named(name), () => choose(name));
  $("alert").replaceChildren(box);
}

// The entity: an input with a list of names that begin with what was typed, then those that contain it.
const source = $("source"), list = $("names");
let typing = 0, pending, options = [], selected = -1;

function closeList() {
  clearTimeout(typing);
  if (pending) pending.abort();
  list.hidden = true;
  selected = -1;
  source.setAttribute("aria-expanded", "false");
  source.removeAttribute("aria-activedescendant");
}

function select(index) {
  selected = index;
  options.forEach((option, i) => option.element.setAttribute("aria-selected", i === index));
  if (index < 0) return source.removeAttribute("aria-activedescendant");
  source.setAttribute("aria-activedescendant", options[index].element.id);
  options[index].element.scrollIntoView({block: "nearest"});
}

// option returns the item of a name, with the letters marked that were typed.
function option(name, typed, i) {
  const element = named(name, longName, "li"), text = element.textContent, lower = text.toLowerCase();
  const at = typed && lower.length === text.length ? lower.indexOf(typed.toLowerCase()) : -1; // İ has a longer lower case
  if (at >= 0) element.replaceChildren(text.slice(0, at), make("mark", text.slice(at, at + typed.length)), text.slice(at + typed.length));
  for (const [key, value] of Object.entries({role: "option", id: "name-" + i, "aria-selected": "false"})) element.setAttribute(key, value);
  element.addEventListener("pointerdown", event => { event.preventDefault(); choose(name); });
  return {name, element};
}

function choose(name) {
  source.value = name;
  closeList();
  visit({source: name});
}

async function suggest() {
  if (pending) pending.abort();
  const mine = pending = new AbortController(), typed = source.value;
  let note;
  try {
    const found = await get("entities", {contains: typed, count: 12}, mine.signal);
    options = found.entities.map((name, i) => option(name, typed, i));
    note = found.more ? "and more: type on" : options.length ? "" : "no entity has this in its name";
  } catch (problem) {
    if (mine.signal.aborted) return;
    options = [];
    note = problem.error;
  }
  list.replaceChildren(...options.map(option => option.element));
  if (note) list.append(make("li", note, {class: "note", role: "presentation"}));
  $("status").textContent = options.length ? plural(options.length, "name", "names") + (note ? " and more" : "") : note;
  list.hidden = false;
  selected = -1;
  source.removeAttribute("aria-activedescendant");
  source.setAttribute("aria-expanded", "true");
}

source.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(suggest, 80);
  describe();
});
source.addEventListener("blur", closeList);
source.addEventListener("keydown", event => {
  const open = !list.hidden;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    if (!open) return void suggest();
    const n = options.length, step = event.key === "ArrowDown" ? 1 : -1;
    if (n) select(selected < 0 ? (step > 0 ? 0 : n - 1) : (selected + step + n) % n);
  } else if (event.key === "Enter" && open && selected >= 0) {
    event.preventDefault();
    choose(options[selected].name);
  } else if (event.key === "Escape" && open) {
    event.preventDefault();
    closeList();
  }
});

// sentence shows a query in words, in one of its two directions.
function sentence(target, entity, relation, tail) {
  const hole = make("span", "?", {class: "hole"}), most = 60;
  const name = entity ? named(entity, most) : "the entity", middle = relation ? named(relation, most) : make("bdi", "the relation");
  middle.className = "relation";
  target.replaceChildren(...(tail ? [name, " ", middle, " ", hole] : [hole, " ", middle, " ", name]));
}

function describe() {
  sentence($("tail"), source.value, $("relation").value, true);
  sentence($("head"), source.value, $("relation").value, false);
}
// The menu of relations: those of the entity's facts, then those that entities like it have, then all others once they are wanted. Without an
// entity it has all.
let relations = [], choice = null, menuOf = ""; // names of all, those of an entity in both directions, and its name

const able = (relation, found = choice) => !found || found.relations.includes(relation) || found.like.includes(relation);
const asked = () => (document.querySelector("[name=direction]:checked").value === "head" ? "~" : "") + $("relation").value;

function showMenu(found) {
  choice = found && found.relations.length + found.like.length ? found : null;
  const list = $("relation"), value = list.value, listed = new Set();
  const items = names => names.map(name => make("option", shorten(visible(name), longName), {value: name}));
  const group = (label, names) => {
    const fresh = [...new Set(names.map(name => parsed(name)[0]))].filter(name => !listed.has(name)), element = make("optgroup", undefined, {label});
    for (const name of fresh) listed.add(name);
    element.append(...items(fresh));
    return fresh.length ? [element] : [];
  };
  if (!choice) list.replaceChildren(...items(relations));
  else {
    list.replaceChildren(...group("of this entity", choice.relations), ...group("of entities like it", choice.like));
    if (listed.size < relations.length) list.append(make("option", "all relations \u2026", {value: ""}));
  }
  if (value && !choice) pick(list, value);
  else list.value = value;
  if (!list.value) list.selectedIndex = 0;
  allow();
}

// showMenuOf shows the menu of an entity, which is null for an unknown one, unless the relation that was asked about is not in it.
function showMenuOf(entity, found, relation) {
  if (entity === menuOf && found) return;
  menuOf = found ? entity : "";
  showMenu(relation && !(able(relation, found) && able(asked(), found)) ? null : found);
  if (relation || !choice || choice.relations.some(name => parsed(name)[0] === $("relation").value)) return;
  $("relation").selectedIndex = 0; // what is chosen was so for another entity
  allow();
}

let chosen;

// allow lets only those directions of the chosen relation be asked that the entity can have.
function allow() {
  const name = chosen = $("relation").value, either = able(name) || able("~" + name);
  for (const radio of document.getElementsByName("direction")) {
    radio.disabled = either && !able((radio.value === "head" ? "~" : "") + name);
    if (radio.disabled && radio.checked) document.querySelector(`[name=direction]:not([value=${radio.value}])`).checked = true;
  }
  describe();
}

$("relation").addEventListener("change", () => {
  if ($("relation").value) return allow();
  $("relation").value = chosen;
  showMenu(null);
  $("relation").focus();
});

const linked = name => { const link = make("a", undefined, {href: "?" + new URLSearchParams({source: name})}); link.append(named(name)); return link; };

// chip says what a person said of a fact.
const chip = verdict => make("span", "judged " + verdict, {class: "known judged-" + verdict});

// One answer of the query: a row of the table, and a row for its reasons.
function row(query, answer, rank, probable) {
  const line = make("tr"), name = make("th", undefined, {scope: "row"});
  name.append(linked(answer.entity));
  if (answer.verdict) name.append(" ", chip(answer.verdict));
  else if (answer.known) name.append(" ", make("span", "known", {class: "known", title: "a fact of the data, scored without it"}));
  line.append(make("td", rank), name);
  if (probable) line.append(answer.odds ? make("td", answer.odds, {title: "probability " + answer.probability}) : make("td", "\u2013", {title: "too few facts of the relation are known"}));
  line.append(make("td", number(answer.score, 2), {title: `rank ${answer.rank} of all entities; asked from the answer: score ${number(answer.other_score, 2)}, rank ${answer.other_rank}`}));
  line.append(make("td", answer.hops === null ? "\u2013" : answer.hops, answer.hops === null ? {class: "hops", title: "out of reach"} : {class: "hops"}));
  const cell = make("td"), [why, below] = reasons(query.source, query.relation, answer.entity, probable ? 6 : 5);
  cell.append(why);
  line.append(cell);
  return [line, below];
}

// reasons returns a button, and the row below that it shows, with the reasons for an answer.
function reasons(source, relation, answer, columns) {
  const why = make("button", "Why?", {type: "button", "aria-expanded": "false", "aria-label": "Why " + visible(answer) + "?"});
  const below = make("tr"), paths = make("td", undefined, {colspan: columns, class: "paths"});
  below.append(paths);
  below.hidden = true;
  let loaded = false;
  why.addEventListener("click", async () => {
    below.hidden = !below.hidden;
    why.setAttribute("aria-expanded", String(!below.hidden));
    if (loaded || below.hidden) return;
    loaded = true;
    paths.textContent = "Looking for reasons \u2026";
    try {
      showWhy(paths, await get("explain", {source, relation, answer, k: 5, drawing: "true"}));
    } catch (problem) {
      loaded = false;
      paths.replaceChildren(make("div", problem.error, {class: "alert"}));
    }
  });
  return [why, below];
}

// ways returns a list of ways through the graph, each with a note behind it.
function ways(list, note) {
  const texts = make("ol");
  for (const way of list) {
    const item = make("li");
    item.append(named(way.steps[0].from));
    for (const step of way.steps) {
      const relation = named((step.inverse ? "~" : "") + step.relation);
      relation.className = "relation";
      item.append(" ", relation, " ", named(step.to));
    }
    item.append(" ", make("span", "(" + note(way) + ")", {class: "weight"}));
    texts.append(item);
  }
  return texts;
}

// showWhy shows the rules of the graph that give an answer, and the paths that the model read where there is none.
function showWhy(cell, found) {
  if (!found.reasons.length && !found.paths.length) {
    cell.textContent = found.answer === found.source ? "The answer is the source itself, to which no path is sought." : "No rule gives it, and no path leads there within the model's layers.";
    return;
  }
  const texts = make("div");
  if (found.reasons.length) texts.append(ways(found.reasons, reason => `so in ${reason.support.toLocaleString("en")} of ${reason.cases.toLocaleString("en")}`),
    make("p", "So in 8 of 10: such a path joins 10 other pairs whose head has an answer, and the graph states 8 of them.", {class: "weight"}));
  if (found.paths.length) texts.append(make("h3", "What the model read"), ways(found.paths, path => "weight " + number(path.weight, 3)),
    make("p", found.weights, {class: "weight"}));
  const why = make("div", undefined, {class: "why"});
  // This page has the style of the drawing. Its policy refuses that of the file, which the browser would say on the console.
  const drawn = new DOMParser().parseFromString(found.drawing.replace(/<style>[^]*?<\/style>/, ""), "image/svg+xml").documentElement;
  if (drawn.localName === "svg") why.append(document.importNode(drawn, true));
  why.append(texts);
  cell.replaceChildren(why);
}

// remarks returns what answers are, and how they are ordered, in sentences.
function remarks(found, parameters, probable) {
  const said = [found.answers.length ? "" : "No answers."];
  if (found.answers.length) said.push(probable ? "The most probable first: how likely a fact is true, given that the data do not state it." : "The highest score first. A score orders the answers of this query; it is not a probability.");
  if (found.one_at_most && found.answers.length) said.push("One of these, at most.");
  if (!parameters.known) said.push("Known answers are left out.");
  else if (found.unlisted) said.push(`The data have ${plural(found.unlisted, "other known answer", "other known answers")}, with lower scores.`);
  return said;
}

// showState says whether probabilities are being computed, and asks again once they are.
let follows = 0;
function showState(state) {
  clearTimeout(follows);
  const [, percent] = state.match(/^fitting (.*)/) || [], [, why] = state.match(/^none: (.*)/) || [];
  $("fitting").textContent = percent ? `Probabilities are being computed, ${percent}.` : why ? `There are no probabilities: ${why}.` : "";
  if (!percent) return;
  const mine = running;
  follows = setTimeout(async () => {
    const now = await get("healthz", {}).catch(() => ({probabilities: state}));
    if (mine !== running || $("result").hidden) return;
    if (now.entities) tell(now);
    if (now.probabilities === "ready") show();
    else showState(now.probabilities);
  }, 1000);
}

function showAnswers(found, parameters) {
  const [relation, inverse] = parsed(found.relation), probable = found.answers.some(answer => answer.odds);
  sentence($("heading"), found.source, relation, !inverse);
  document.querySelector("th.probability").hidden = !probable;
  $("answers").replaceChildren(...found.answers.flatMap((answer, i) => row(found, answer, i + 1, probable)));
  $("note").textContent = remarks(found, parameters, probable).join(" ");
  showState(found.probabilities);
  $("csv").href = "answer?" + new URLSearchParams({...parameters, format: "csv"});
  $("status").textContent = plural(found.answers.length, "answer", "answers");
}

// The address of the page holds the query, or the entity alone, so that it can be kept and sent: the page shows what its address says.

// visit changes the address.
function visit(parameters, focus) {
  const search = "?" + new URLSearchParams(parameters);
  if (search !== location.search) history.pushState(null, "", search);
  return show(focus);
}
addEventListener("popstate", () => show());
document.addEventListener("click", event => {
  const link = event.target.closest("a[href^='?']");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  visit(new URLSearchParams(link.getAttribute("href")), true);
});

// pick selects a value of a list, also one that the list lacks: the server says that it is unknown, and what is like it.
function pick(list, value) {
  for (const earlier of list.querySelectorAll(".unknown")) earlier.remove();
  list.value = value;
  if (list.value === value) return;
  list.append(make("option", shorten(visible(value), longName), {value, class: "unknown"}));
  list.value = value;
}

// fill makes the form say what the address says. A query without a relation keeps that of the form.
function fill(wanted) {
  source.value = wanted.get("source") || "";
  const relation = wanted.get("relation");
  if (relation && !able(relation)) showMenu(null);
  if (relation) {
    const [name, inverse] = parsed(relation);
    document.querySelector(`[name=direction][value=${inverse ? "head" : "tail"}]`).checked = true;
    pick($("relation"), name);
    $("k").value = wanted.get("k") || 10;
    $("known").checked = wanted.get("known") === "true";
    pick($("type"), (wanted.get("candidates") || "").replace(/^type:/, ""));
    if ($("type").value) $("types").hidden = false;
  }
  allow();
}

let running;

// show asks for what the address says. With focus, the keyboard continues at what is shown.
async function show(focus) {
  if (running) running.abort();
  const mine = running = new AbortController(), wanted = new URLSearchParams(location.search), root = document.documentElement;
  closeList();
  const listing = wanted.get("view") === "list";
  fill(listing ? new URLSearchParams() : wanted);
  $("alert").replaceChildren();
  const entity = listing ? "" : wanted.get("source"), parameters = !listing && wanted.get("relation") ? Object.fromEntries(wanted) : null, start = !listing && !entity && !parameters;
  for (const tab of $("tabs").children) tab.setAttribute("aria-current", listing === tab.search.includes("list") ? "page" : "false");
  $("form").hidden = $("steps").hidden = listing;
  const title = listing ? "The list" : !entity ? "" : !parameters ? shorten(visible(entity), longName) : document.querySelector("[name=direction]:checked + span").textContent;
  document.title = title ? title + " \u2013 tagnet" : "tagnet";
  root.dataset.state = "waiting";
  const done = wait(mine, entity ? "Asking" : "Reading the list");
  const [answers, about, menu, list] = await Promise.allSettled([
    parameters && get("answer", parameters, mine.signal), entity && showEntity(entity, mine.signal), entity && get("relations", {entity}, mine.signal),
    (listing || start) && get("list", listParameters(wanted, start), mine.signal).then(async found => { if (start) await showExamples(found, mine.signal); return found; })]);
  if (running !== mine) return;
  if (source.value === (entity || "")) showMenuOf(entity || "", menu.value || null, wanted.get("relation"));
  done();
  $("result").hidden = !parameters || !answers.value;
  $("entity").hidden = !entity || about.status === "rejected";
  $("start").hidden = !start || !list.value;
  $("list").hidden = !list.value || start && !list.value.name;
  if (mine.signal.aborted) return void (root.dataset.state = "refused");
  if (answers.value) showAnswers(answers.value, parameters);
  if (list.value) showList(list.value, wanted, start);
  const problem = answers.reason || about.reason || list.reason;
  root.dataset.state = problem ? "refused" : parameters ? "answered" : entity ? "shown" : listing ? "listed" : "ready";
  if (problem) complain(problem, () => show(), name => visit(corrected(wanted, problem, name)));
  else if (!parameters) $("status").textContent = entity ? $("summary").textContent : listing ? $("listed").textContent : "";
  if (focus && !problem) $(parameters ? "heading" : listing ? "listed" : entity ? "name" : "source").focus();
}

// corrected returns the address with another name instead of the unknown one.
function corrected(wanted, problem, name) {
  const of = new URLSearchParams(wanted);
  if (problem.error.startsWith("unknown relation")) of.set("relation", (parsed(of.get("relation"))[1] ? "~" : "") + name);
  else if (problem.error.startsWith("unknown type")) of.set("candidates", "type:" + name);
  else of.set("source", name);
  return of;
}

// wait says after a moment that the server is at work, and for how long. The returned function ends that.
function wait(controller, text) {
  $("status").textContent = text;
  const begun = Date.now(), sections = [$("result"), $("entity"), $("list")], cancel = () => { controller.abort(); $("status").textContent = "Canceled"; };
  const timer = setInterval(() => {
    for (const section of sections) section.setAttribute("aria-busy", "true");
    $("waited").textContent = `${text} \u2026 ${Math.round((Date.now() - begun) / 1000)} s`;
    $("waiting").hidden = false;
  }, 400);
  $("cancel").addEventListener("click", cancel);
  const done = () => {
    clearInterval(timer);
    controller.signal.removeEventListener("abort", done);
    $("cancel").removeEventListener("click", cancel);
    $("waiting").hidden = true;
    for (const section of sections) section.removeAttribute("aria-busy");
  };
  controller.signal.addEventListener("abort", done);
  return done;
}

$("form").addEventListener("submit", event => {
  event.preventDefault();
  const parameters = {source: source.value, relation: asked(), k: $("k").value};
  if ($("known").checked) parameters.known = "true";
  if ($("type").value) parameters.candidates = "type:" + $("type").value;
  visit(parameters);
});

// The answers of a query of several steps, each with the facts that it takes.
function matched(found) {
  const answers = make("ol");
  for (const answer of found.answers.filter(answer => answer.probability >= .001)) {
    const item = make("li"), facts = make("ul");
    item.append(linked(answer.entity), answer.probability === 1 ? " stated" : " probability " + number(answer.probability, 3), facts);
    for (const fact of answer.facts) {
      const line = make("li"), said = fact.stated ? "stated" : (fact.negated ? "which has probability " : "probability ") + number(fact.probability, 3), relation = named(fact.relation);
      relation.className = "relation";
      line.append(fact.negated ? "not " : "", named(fact.head), " ", relation, " ", named(fact.tail), " ", make("span", "(" + said + ")", {class: "weight"}));
      facts.append(line);
    }
    answers.append(item);
  }
  const cut = found.cut.map(of => `Of ?${visible(of.variable)} the ${of.followed} best of ${of.of.toLocaleString("en")} were followed.`).join(" ");
  return [make("p", (answers.childElementCount ? "" : "No answers. ") + cut, {class: "about"}), answers];
}

let matching; // the last query of several steps

$("asking").addEventListener("submit", async event => {
  event.preventDefault();
  if (matching) matching.abort();
  const mine = matching = new AbortController();
  $("matches").replaceChildren("Asking \u2026");
  try {
    $("matches").replaceChildren(...matched(await get("pattern", {}, mine.signal, {pattern: $("pattern").value})));
  } catch (problem) {
    if (mine === matching) $("matches").replaceChildren(make("div", problem.error, {class: "alert"}));
  }
});

$("copy").hidden = !navigator.clipboard; // a page over http has none, unless it is of this machine
$("copy").addEventListener("click", async () => {
  const said = await navigator.clipboard.writeText(location.href).then(() => "Copied", () => "Copy the address of this page instead");
  $("copy").textContent = $("status").textContent = said;
  setTimeout(() => { $("copy").textContent = "Copy link"; }, 2000);
});

// tell says what the server has.
function tell(state) {
  $("about").textContent = plural(state.entities, "entity", "entities") + ", " + plural(state.relations, "relation", "relations") + "; model " + state.checkpoint + (state.presumed ? "; " + state.presumed : "");
  $("told").textContent = [state.verdicts ? plural(state.verdicts, "fact is judged.", "facts are judged.") : "", ...(state.told || []).map(line => line + ".")].join(" ");
}

async function begin() {
  try {
    const [state, names, kinds] = await Promise.all([get("healthz", {}), get("relations", {}), get("types", {})]);
    const item = name => make("option", shorten(visible(name), longName), {value: name});
    relations = names.relations;
    tell(state);
    showMenu(null);
    $("type").append(...kinds.types.map(item));
    $("types").hidden = !kinds.types.length;
  } catch (problem) {
    return complain(problem, begin);
  }
  show();
}
addEventListener("DOMContentLoaded", begin); // after facts.js
