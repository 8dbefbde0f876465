"use strict";

// The list of new facts, and the start page, which shows its first facts. The address of the list has view=list beside the parameters of /list.
const perPage = 50, firstListed = 10, examples = 3;

// listParameters returns what the address wants of the list.
function listParameters(wanted, start) {
  const parameters = start ? {limit: firstListed} : {...Object.fromEntries(wanted), limit: perPage};
  delete parameters.view;
  return parameters;
}

// factRow returns a row for a fact of the list, with what people can say of it, and a row for its reasons.
function factRow(fact, judging) {
  const line = make("tr"), cell = make("th", undefined, {scope: "row"}), actions = make("span", undefined, {class: "actions"}), words = make("span");
  const text = [fact.head, fact.relation, fact.tail].map(visible).join(" "), relation = named(fact.relation), [why, below] = reasons(fact.head, fact.relation, fact.tail, 3);
  relation.className = "relation";
  words.append(linked(fact.head), " ", relation, " ", linked(fact.tail));
  why.setAttribute("aria-label", "Why " + text + "?");
  const offer = (label, verdict) => {
    const button = make("button", label, {type: "button", "aria-label": label + ": " + text});
    button.addEventListener("click", async () => {
      const judged = {head: fact.head, relation: fact.relation, tail: fact.tail, verdict, who: $("who").value};
      for (const each of actions.children) each.disabled = true;
      try {
        tell(await get("verdicts", {}, undefined, judged));
        say(verdict === "undo" ? "" : verdict);
        actions.querySelector("button").focus();
      } catch (problem) {
        complain(problem, () => button.click());
      }
      for (const each of actions.children) each.disabled = false;
    });
    return button;
  };
  const say = verdict => actions.replaceChildren(...verdict ? [chip(verdict)] : [],
    ...!judging ? [] : verdict ? [offer("Undo", "undo")] : [offer("True", "true"), offer("False", "false")], why);
  say(fact.verdict);
  const both = make("div");
  both.append(words, actions);
  cell.append(both);
  line.append(make("td", fact.position), cell, make("td", fact.odds || "\u2013", {title: fact.odds ? "probability " + fact.probability : "too few facts of the relation are known"}));
  return [line, below];
}

// showList shows a page of the list, or on the start page its first facts.
function showList(found, wanted, start) {
  const offset = Number(wanted.get("offset") || 0), file = {...listParameters(wanted, start), offset: ""}, last = offset + found.listed.length;
  const all = names => names.map(name => make("option", shorten(visible(name), longName), {value: name}));
  $("listed").textContent = start ? "The first facts of the list" : plural(found.facts, "fact", "facts") + " that the data may lack";
  $("order").textContent = !found.name ? "The run has no list of new facts: the command discover makes one."
    : start ? `It has ${plural(found.facts, "fact", "facts")}.` : `${found.facts ? offset + 1 : 0} to ${last}. The list is facts/${visible(found.name)} of the run.`;
  $("rows").replaceChildren(...found.listed.flatMap(fact => factRow(fact, found.judging)));
  $("whose").hidden = !found.judging;
  for (const part of ["filter", "pages", "files"]) $(part).hidden = start || !found.name;
  $("of").replaceChildren(make("option", "any", {value: ""}), ...all(found.relations));
  pick($("of"), wanted.get("relation") || "");
  $("like").value = wanted.get("name") || "";
  $("sort").value = wanted.get("sort") || "";
  $("judged").checked = wanted.get("judged") === "true";
  const turn = (id, to, is) => { $(id).hidden = !is; $(id).href = "?" + new URLSearchParams({...Object.fromEntries(wanted), offset: to}); };
  turn("before", Math.max(0, offset - perPage), offset > 0);
  turn("after", last, last < found.facts);
  delete file.limit, delete file.offset;
  for (const link of $("files").querySelectorAll("a")) link.href = "list?" + new URLSearchParams({...file, format: link.download.split(".")[1]});
}

$("filter").addEventListener("submit", event => event.preventDefault());
$("filter").addEventListener("change", event => {
  if (event.target.id === "who") return;
  const wanted = {relation: $("of").value, name: $("like").value, sort: $("sort").value, judged: $("judged").checked ? "true" : ""};
  visit({view: "list", ...Object.fromEntries(Object.entries(wanted).filter(([, value]) => value))});
});

// showExamples shows queries that can be asked: of facts of the list, each of another relation, or of the first entities without one.
async function showExamples(found, signal) {
  let asks = found.listed.filter((fact, i) => found.listed.findIndex(other => other.relation === fact.relation) === i).map(fact => [fact.head, fact.relation]);
  for (const fact of found.listed) asks.push([fact.tail, "~" + fact.relation]);
  if (!asks.length) {
    const {entities} = await get("entities", {count: examples}, signal), all = await Promise.all(entities.map(entity => get("entity", {entity, limit: 1}, signal)));
    asks = all.flatMap(of => of.relations.map(relation => [of.entity, relation.relation]));
  }
  $("examples").replaceChildren(...asks.slice(0, examples).map(of => question(...of)));
}
