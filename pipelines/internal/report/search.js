"use strict";
(async () => {
const element = id => document.getElementById(id);
const form = element("search"), found = element("search-found"), body = element("search-rows");
if (!window.DecompressionStream) {
	found.textContent = "This browser is too old to search the predictions.";
	return;
}
const packed = Uint8Array.from(atob(element("search-data").textContent), c => c.charCodeAt(0));
const data = JSON.parse(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text());

// The index of the query of each row, and the names in lower case for the filter.
for (const table of data.tables) {
	table.query = new Int32Array(table.entity.length);
	let row = 0;
	table.answers.forEach((n, query) => { table.query.fill(query, row, row += n); });
}
const lower = data.names.map(name => name.toLowerCase());
const fields = form.elements, perPage = 50;
const calibrated = data.tables.some(table => table.probability.some(p => p >= 0));
if (calibrated) {
	element("search-value").textContent = "Probability";
	fields.sort.options[1].textContent = "probability, highest first";
}
let table, rows = [], page = 0;

const option = (select, value, text) => { const o = document.createElement("option"); o.value = value; o.textContent = text; select.append(o); };
data.tables.forEach((table, i) => option(fields.table, i, table.title));
fields.table.parentElement.hidden = data.tables.length < 2;

const useTable = () => {
	table = data.tables[fields.table.value];
	fields.relation.length = 1;
	for (const r of [...new Set(table.relation)].sort((a, b) => data.names[a] < data.names[b] ? -1 : 1)) option(fields.relation, r, data.names[r]);
};

const filter = () => {
	const { query, source, relation, head, entity, known, rank, score, probability, position } = table;
	const words = fields.text.value.toLowerCase().split(/\s+/).filter(word => word);
	const hits = words.map(word => lower.map(name => name.includes(word)));
	const inverse = words.map(word => word.startsWith("~") ? lower.map(name => ("~" + name).includes(word)) : null);
	const r = fields.relation.value, d = fields.direction.value, kind = fields.kind.value;
	rows = [];
	for (let row = 0; row < entity.length; row++) {
		const q = query[row];
		if (r !== "" && relation[q] != r || d !== "" && head[q] != d) continue;
		if (kind == "new" && (known[row] || rank[row]) || kind == "known" && (!known[row] || rank[row]) || kind == "right" && !rank[row]) continue;
		if (words.every((_, w) => hits[w][source[q]] || hits[w][relation[q]] || hits[w][entity[row]] || inverse[w] && head[q] && inverse[w][relation[q]])) rows.push(row);
	}
	const value = calibrated ? row => probability[row] * 1e12 + score[row] : row => score[row];
	const last = 1e15, rankOf = row => rank[row] || last;
	const order = {
		score: (a, b) => value(b) - value(a),
		position: (a, b) => (position[a] || last) - (position[b] || last),
		best: (a, b) => rankOf(a) - rankOf(b),
		worst: (a, b) => rank[b] - rank[a],
	}[fields.sort.value];
	if (order) rows.sort((a, b) => order(a, b) || a - b);
	page = 0;
	show();
};

const cell = (row, text, kind) => { const td = document.createElement("td"); td.textContent = text; if (kind) td.className = kind; row.append(td); return td; };
const span = (text, kind) => { const s = document.createElement("span"); s.textContent = text; s.className = kind; return s; };
const short = (name, most) => name.length > most ? name.slice(0, most - most / 3) + "…" + name.slice(-most / 3) : name;
const named = (id, kind, before = "") => { const s = span(before + short(data.names[id], 80), kind); s.title = before + data.names[id]; return s; };

// What is nearly nothing or nearly all is not rounded to it.
const percent = thousandths => thousandths == 0 ? "<0.1%" : thousandths == 1000 ? ">99.9%" : (thousandths / 10).toFixed(1) + "%";

const show = () => {
	const from = page * perPage, to = Math.min(rows.length, from + perPage), number = n => n.toLocaleString("en");
	found.textContent = rows.length ? `${number(rows.length)} of ${number(table.entity.length)} predictions; ${number(from + 1)} to ${number(to)} shown` : "No prediction matches.";
	body.replaceChildren(...rows.slice(from, to).map(row => {
		const tr = document.createElement("tr"), q = table.query[row];
		cell(tr, table.position[row] || "–", "rank");
		cell(tr, "", "query").append(named(table.source[q], ""), " ", named(table.relation[q], "relation", table.head[q] ? "~" : ""));
		const answer = cell(tr, "", "answer");
		answer.append(named(table.entity[row], ""));
		if (table.rank[row]) answer.append(" ", span(table.rank[row] == 1 ? "the answer" : `the answer, rank ${number(table.rank[row])}`, "right"));
		else if (table.known[row]) answer.append(" ", span("known", "known"));
		if (table.paths && table.paths[row]) {
			const why = document.createElement("details"), summary = document.createElement("summary");
			summary.textContent = "why";
			why.className = "why";
			why.append(summary, ...table.paths[row].split("\n").map(path => { const p = document.createElement("p"); p.textContent = path; return p; }));
			answer.append(why);
		}
		const score = (table.score[row] / 100).toFixed(2);
		const value = cell(tr, !calibrated ? score : table.probability[row] < 0 ? "–" : percent(table.probability[row]));
		value.title = "score " + score;
		cell(tr, table.hops[row] < 0 ? "–" : table.hops[row]);
		return tr;
	}));
	element("search-back").disabled = page == 0;
	element("search-on").disabled = to == rows.length;
};

let timer;
form.addEventListener("input", event => {
	if (event.target == fields.table) useTable();
	clearTimeout(timer);
	timer = setTimeout(filter, event.target == fields.text ? 150 : 0);
});
form.addEventListener("submit", event => { event.preventDefault(); clearTimeout(timer); filter(); });
const turn = by => { page += by; show(); element("search-table").scrollIntoView({ block: "nearest" }); };
element("search-back").addEventListener("click", () => turn(-1));
element("search-on").addEventListener("click", () => turn(1));
useTable();
filter();
element("search-all").hidden = false;
})();
