package facts

import "strings"

// Kinds of files that are recognized and not read, with the remedy.
const (
	archive  = "an archive: unpack it first"
	rdfXML   = "RDF/XML, which is not read: convert it to N-Triples first (rapper -i rdfxml FILE > facts.nt, or riot --output=ntriples FILE)"
	jsonLD   = "JSON-LD, which is not read: convert it to N-Triples first (riot --output=ntriples FILE)"
	jsonText = "JSON that is not one fact a line: write JSON lines first (jq -c '.[]' FILE > facts.jsonl for an array)"
	trig     = "TriG, which is not read: convert it to N-Quads first (rapper -i trig -o nquads FILE > facts.nq, or riot --output=nquads FILE)"
)

var foreignEndings = map[string]string{
	".tar": archive, ".tgz": archive, ".tbz2": archive, ".zip": archive, ".7z": archive, ".rar": archive, ".xlsx": "a spreadsheet: save it as CSV first",
	".rdf": rdfXML, ".owl": rdfXML, ".xml": rdfXML, ".jsonld": jsonLD, ".trig": trig,
}

// Foreign describes a file of a kind that is not read, by the ending of its name, with a remedy; "" for other names.
func Foreign(name string) string {
	name = unpackedName(strings.ToLower(name))
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return foreignEndings[name[dot:]]
	}
	return ""
}

// foreignText describes a text of a kind that is not read, by its first bytes, with a remedy; "" for other texts.
func foreignText(start string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(start), "\n")
	first = strings.TrimSpace(first)
	switch {
	case strings.HasPrefix(first, "<?xml"), strings.HasPrefix(first, "<rdf:RDF"):
		return rdfXML
	case !strings.HasPrefix(first, "{") && !strings.HasPrefix(first, "["), strings.Contains(first, "\t"):
		return ""
	case strings.Contains(start, `"@context"`), strings.Contains(start, `"@id"`):
		return jsonLD
	case isObject(first):
		return ""
	}
	if rest := strings.TrimLeft(first, "{[ "); rest == "" || rest[0] == '"' {
		return jsonText
	}
	return ""
}
