package synthetic

import (
	"math"
	"math/rand/v2"
	"strings"

	"tagnet/model/graph/kg"
)

// trait is a relation of holdings that gives each head one tail: in a share of cases that to which a rule leads. A
// share of its facts is missing.
type trait struct {
	head, relation, tail string
	missing, follows     float64
	body                 string
}

// traits are in the order in which they are drawn. What is usual is not stated: rated follows from what other companies
// of a sector are. ~operates gives a site one head.
var traits = []trait{
	{"city", "located_in", "country", .02, 0, ""},
	{"sector", "overseen_by", "agency", .02, 0, ""},
	{"sector", "usual", "grade", 0, 0, ""},
	{"person", "lives_in", "city", .02, 0, ""},
	{"person", "citizen_of", "country", .1, .8, "lives_in, located_in"},
	{"company", "has_address", "city", .02, 0, ""},
	{"company", "incorporated_in", "country", .4, .85, "has_address, located_in"},
	{"company", "in_sector", "sector", .1, 0, ""},
	{"company", "regulated_by", "agency", .4, .85, "in_sector, overseen_by"},
	{"company", "rated", "grade", .1, .7, "in_sector, usual"},
	{"company", "subsidiary_of", "company", .1, 0, ""},
	{"company", "audited_by", "auditor", .4, .85, "subsidiary_of, audited_by"},
	{"company", "chaired_by", "person", .1, 0, ""},
	{"company", "founded_by", "person", .1, .8, "chaired_by"},
	{"company", "sponsors", "person", .02, 0, ""},
	{"company", "supplies", "company", .1, 0, ""},
	{"company", "transacts_with", "company", .25, 0, ""},
	{"company", "leases", "building", .02, 0, ""},
	{"company", "leases", "building", .02, 0, ""},
	{"site", "in_building", "building", .02, 0, ""},
	{"site", "~operates", "company", .1, .85, "in_building, ~leases"},
	{"", "controlled_by", "", .7, 0, ""},
	{"", "supplied_by", "", .2, 0, ""},
}

// traitEntities are the numbers of entities of each type. Companies come in groups of groupSize.
var traitEntities = map[string]int{
	"city": 60, "country": 12, "sector": 30, "agency": 8, "grade": 5, "person": 800, "company": 720, "auditor": 25, "building": 500, "site": 900,
}

const groupSize = 12

// traitMirrors are the relations that say the same from tail to head.
var traitMirrors = map[string]string{"transacts_with": "transacts_with", "supplies": "supplied_by", "supplied_by": "supplies"}

// holdings are groups of companies while they are drawn.
type holdings struct {
	*draft
	ends    map[[2]string]string // of a name and a relation, in both directions
	derived map[kg.Triple][]string
}

// Holdings draws groups of companies: the facts that are stated (Train) and those that are missing, and the bodies of
// the rules from which facts of both follow, as "subsidiary_of, audited_by"; ~ is the inverse. subsidiary_of is a tree,
// and controlled_by its closure; who chairs a company chairs no other; transacts_with is symmetric, and supplies has an
// inverse: what these lack has its mirror.
func Holdings(seed int64) (s Splits, derived map[kg.Triple][]string) {
	h := holdings{emptyDraft(rand.New(rand.NewPCG(uint64(seed), sampleStream))), map[[2]string]string{}, map[kg.Triple][]string{}}
	chairs := h.random.Perm(traitEntities["person"])
	for _, t := range traits {
		for i := range traitEntities[t.head] {
			first, among := 0, traitEntities[t.tail]
			switch t.relation {
			case "subsidiary_of": // one that is earlier in the group
				first, among = i/groupSize*groupSize, i%groupSize
			case "chaired_by":
				first, among = chairs[i], 1
			}
			if among > 0 {
				h.give(t, numbered(t.head, i), numbered(t.tail, first+h.random.IntN(among)))
			}
		}
	}
	for i := range traitEntities["company"] {
		bodies, company := []string{"subsidiary_of"}, numbered("company", i)
		for above := h.ends[[2]string{company, "subsidiary_of"}]; above != ""; above = h.ends[[2]string{above, "subsidiary_of"}] {
			h.add(company, "controlled_by", above)
			h.derived[fact(company, "controlled_by", above)] = bodies
			bodies = []string{"subsidiary_of, controlled_by", "controlled_by, subsidiary_of", "controlled_by, controlled_by"}
		}
	}
	return h.lack(), h.derived
}

// give gives a head the tail to which the rule of a relation leads, or, where it fails, another.
func (h *holdings) give(t trait, head, tail string) {
	follows := head
	for step := range strings.SplitSeq(t.body, ", ") {
		follows = h.ends[[2]string{follows, step}]
	}
	holds := follows != "" && h.random.Float64() < t.follows
	if holds {
		tail = follows
	}
	h.ends[[2]string{head, t.relation}], h.ends[[2]string{tail, "~" + t.relation}] = tail, head
	f := fact(head, t.relation, tail)
	if t.relation == "~operates" {
		f, t.body = fact(tail, "operates", head), "leases, ~in_building"
	}
	if t.relation != "usual" {
		h.add(f.Head, f.Relation, f.Tail)
	}
	if holds && t.relation != "rated" {
		h.derived[f] = []string{t.body}
	}
	if mirror := traitMirrors[t.relation]; mirror != "" && head != tail {
		h.add(tail, mirror, head)
		h.derived[f], h.derived[fact(tail, mirror, head)] = []string{"~" + mirror}, []string{"~" + t.relation}
	}
}

// lack takes the share of each relation's facts out. A fact stays if its mirror is missing, or if one of its names
// would be in no other.
func (h *holdings) lack() (s Splits) {
	uses, left, missing := map[string]int{}, map[string]float64{}, map[kg.Triple]bool{}
	for _, f := range h.facts {
		uses[f.Head], uses[f.Tail], left[f.Relation] = uses[f.Head]+1, uses[f.Tail]+1, left[f.Relation]+1
	}
	shares := map[string]float64{}
	for _, t := range traits {
		shares[strings.TrimPrefix(t.relation, "~")] = t.missing
	}
	for relation, facts := range left {
		left[relation] = math.Round(shares[relation] * facts)
	}
	shuffle(h.random, h.facts)
	for _, f := range h.facts {
		missing[f] = left[f.Relation] > 0 && min(uses[f.Head], uses[f.Tail]) > 1 && !missing[fact(f.Tail, traitMirrors[f.Relation], f.Head)]
		if missing[f] {
			uses[f.Head], uses[f.Tail], left[f.Relation] = uses[f.Head]-1, uses[f.Tail]-1, left[f.Relation]-1
			s.Missing = append(s.Missing, f)
		} else {
			s.Train = append(s.Train, f)
		}
	}
	return s
}
