"use strict";

// The known facts of an entity: its relations, as queries, and a picture of its first neighbors. The constants say how many of them there are at
// first, how many more at a time, and how many neighbors and relations the picture begins with.
const firstNeighbors = 6, furtherNeighbors = 20, mostDrawn = 36, mostGroups = 12;
let facts; // what the server told, or nothing

async function showEntity(entity, signal) {
  facts = await get("entity", {entity, neighbors: firstNeighbors, limit: 40}, signal);
  const types = facts.types.slice(0, 12).map(visible).join(", ") + (facts.types.length > 12 ? ", \u2026" : "");
  $("name").replaceChildren(named(entity));
  $("summary").textContent = (facts.facts ? plural(facts.facts, "known fact", "known facts") : "No fact of this entity is known.") + (types ? " \u00b7 " + types : "");
  $("facts").hidden = !facts.facts;
  $("asks").replaceChildren(...facts.relations.map(ask));
  $("further").hidden = !facts.more;
  const groups = Math.min(mostGroups, facts.relations.length);
  for (const relation of facts.relations) relation.shown = Math.max(1, Math.min(firstNeighbors, Math.floor(mostDrawn / groups)));
  $("entity").hidden = false;
  draw();
}

// ask returns an item with the query of a relation, and how many answers are known.
function ask(relation) {
  const item = question(facts.entity, relation.relation), link = item.firstChild, query = link.firstChild, count = make("span", relation.facts.toLocaleString("en"), {class: "count"});
  query.querySelector("bdi:not(.relation)").className = "quiet"; // the heading shows the entity
  count.append(make("span", relation.facts === 1 ? " known fact" : " known facts", {class: "quiet"}));
  link.append(" ", count);
  return item;
}

// question returns an item with a query.
function question(entity, relation) {
  const [name, inverse] = parsed(relation), item = make("li"), query = make("span"), link = make("a", undefined, {href: "?" + new URLSearchParams({source: entity, relation})});
  sentence(query, entity, name, !inverse);
  link.append(query);
  item.append(link);
  return item;
}

$("further").addEventListener("click", async () => {
  const of = facts;
  try {
    const next = await get("entity", {entity: of.entity, limit: 100, offset: of.relations.length});
    if (of !== facts) return;
    of.relations.push(...next.relations);
    $("asks").append(...next.relations.map(ask));
    $("asks").children[of.relations.length - next.relations.length].firstChild.focus();
    $("further").hidden = !next.more;
  } catch (problem) {
    complain(problem, () => $("further").click());
  }
});

// draw draws the first neighbors of an entity beside a line that leads down from it: in a wide window those of facts that lead to the entity on the
// left, else all on the right.
function draw() {
  const width = Math.floor($("graph").clientWidth);
  if (!facts || !width) return;
  drawn = width;
  const groups = facts.relations.slice(0, mostGroups).filter(group => group.entities.length);
  const both = width >= 600 && new Set(groups.map(group => parsed(group.relation)[1])).size === 2;
  const svg = shape("svg", {width, role: "group", "aria-label": "Known facts of " + shorten(visible(facts.entity), 200)});
  $("graph").replaceChildren(svg); // texts have a length from then on
  const center = both ? Math.floor(width / 2) : 8, top = both ? 28 : 12;
  const place = {svg, both, center, space: (both ? width / 2 : width) - 34, last: top, bottom: {"1": top + 6, "-1": top + 6}};
  const line = svg.appendChild(shape("path"));
  svg.append(shape("circle", {cx: center, cy: top, r: 6, class: "root"}));
  if (both) label(svg, facts.entity, center, 13, "middle", width, "center");
  else label(svg, facts.entity, center + 16, 17, "start", place.space, "center");
  for (const group of groups) drawGroup(place, group);
  line.setAttribute("d", `M${center} ${top}V${place.last - 8}`);
  svg.setAttribute("height", Math.max(place.bottom[1], place.bottom[-1]) + 12);
  $("beyond").textContent = groups.length < facts.relations.length || facts.more ? `The picture has the ${groups.length} relations with the most facts; the list above has more.` : "";
}

// drawGroup draws the neighbors of a relation, below those that are on their side already. An arrow points from the head of a fact to its tail.
function drawGroup(place, group) {
  const {svg, center, space} = place, [relation, inverse] = parsed(group.relation);
  const side = place.both && inverse ? -1 : 1, anchor = side > 0 ? "start" : "end", at = center + 38 * side;
  const tip = center + (inverse ? 7 : 23) * side, base = (inverse ? 6 : -6) * side;
  let y = place.bottom[side] + 20;
  label(svg, place.both ? relation : inverse ? "\u2190 " + relation : relation + " \u2192", center + 16 * side, y + 3, anchor, space, "label");
  for (const entity of group.entities.slice(0, group.shown)) {
    y += 24;
    svg.append(shape("path", {d: `M${center} ${y - 8}q0 8 ${8 * side} 8h${16 * side}`}), shape("path", {class: "tip", d: `M${tip} ${y}l${base} -4v8z`}));
    const link = svg.appendChild(shape("a", {href: "?" + new URLSearchParams({source: entity}), "aria-label": fact(facts.entity, group.relation, entity)}));
    link.append(shape("circle", {cx: center + 28 * side, cy: y, r: 4}));
    label(link, entity, at, y + 4.5, anchor, space - 4, "");
  }
  place.last = Math.max(place.last, y);
  const left = group.facts - Math.min(group.shown, group.entities.length);
  if (left) label(svg.appendChild(further(group, left)), `${left.toLocaleString("en")} more \u2026`, at, (y += 24) + 4.5, anchor, space, "");
  place.bottom[side] = y + 8;
}

let drawn; // the width of the picture
new ResizeObserver(() => { if (Math.floor($("graph").clientWidth) !== drawn) draw(); }).observe($("graph"));

function shape(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  return element;
}

// label appends a text that is shortened to a width, of which a pointer shows all.
function label(parent, name, x, y, anchor, width, style) {
  const text = visible(name), element = parent.appendChild(shape("text", {x, y, "text-anchor": anchor, class: style}));
  let most = Math.min(200, text.length), wide;
  do {
    element.textContent = shorten(text, most);
    wide = element.getComputedTextLength();
    most = Math.min(most - 1, Math.floor(most * width / wide));
  } while (wide > width && most > 4);
  if (element.textContent !== text) element.append(Object.assign(shape("title"), {textContent: shorten(text, 2000)}));
}

// fact returns the fact of an entity and its neighbor in words.
function fact(entity, relation, neighbor) {
  const [name, inverse] = parsed(relation);
  return (inverse ? [neighbor, name, entity] : [entity, name, neighbor]).map(visible).join(" ");
}

// further returns a button in the picture that shows more neighbors of a relation.
function further(group, left) {
  const button = shape("g", {role: "button", tabindex: 0, "aria-label": `Show more of ${left.toLocaleString("en")} other facts with ${visible(group.relation)}`});
  const load = async () => {
    const of = facts, before = group.shown;
    try {
      if (group.entities.length < group.facts) {
        const next = await get("facts", {entity: of.entity, relation: group.relation, offset: group.entities.length, limit: furtherNeighbors});
        group.entities.push(...next.entities);
      }
    } catch (problem) {
      return complain(problem, load);
    }
    if (of !== facts) return;
    group.shown = group.entities.length;
    draw();
    const first = fact(of.entity, group.relation, group.entities[before]);
    const link = [...$("graph").querySelectorAll("a")].find(link => link.getAttribute("aria-label") === first);
    if (link) link.focus();
  };
  button.addEventListener("click", load);
  button.addEventListener("keydown", event => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    load();
  });
  return button;
}
