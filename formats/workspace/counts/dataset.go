package counts

import (
	"context"
	"math"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
)

// Dataset is the content of summary.json: the sizes of the tables of graph/.
type Dataset struct {
	// Dataset and Inference are the folders or catalog entries of the dataset and of its inference graph.
	Dataset   string `json:"dataset"`
	Inference string `json:"inference,omitempty"`
	// Entities, Relations (without inverses), Facts (distinct) and Edges (two a fact) count the
	// training graph. MeanDegree is facts per entity.
	Entities   int64   `json:"entities"`
	Relations  int64   `json:"relations"`
	Facts      int64   `json:"facts"`
	Edges      int64   `json:"edges"`
	MeanDegree float64 `json:"mean_degree"`
	Degrees    Degrees `json:"degrees"`
	// Background counts the facts of facts.txt: they are in the graph, but no query is about them.
	Background int64 `json:"background,omitempty"`
	// Queries has the number of queries of each split, two for each of its facts, and Distinct the
	// number of different pairs (source, relation) among them.
	Queries  map[string]int64 `json:"queries"`
	Distinct map[string]int64 `json:"distinct"`
	// InferenceGraph is the graph of the test queries in the inductive setting.
	InferenceGraph *Graph `json:"inference_graph,omitempty"`
	// ValidOnInference says that the validation queries are about the inference graph, too.
	ValidOnInference bool `json:"valid_on_inference,omitempty"`
	// Types counts the types of entities, if the dataset gives any.
	Types *Types `json:"types,omitempty"`
	// Repeated counts facts left out because they repeat one of the same split, by split; the key of
	// the inference graph's train facts is "inference".
	Repeated map[string]int64 `json:"repeated"`
	// Known counts facts of valid and test that are also facts of their graph: a model can look them up. They are
	// not left out. KnownShare is their share of the split's facts, 0 without facts.
	Known      map[string]int64   `json:"known"`
	KnownShare map[string]float64 `json:"known_share"`
	// Rejected is the number of lines left out because they are not facts, or because their relation
	// is in no training fact; rejects.tsv lists them.
	Rejected int64 `json:"rejected"`

	// Unread are the names of the files of the dataset's folders that were not read.
	Unread []string `json:"unread,omitempty"`
	// Conversion says how the files were read, if they are not tab-separated text.
	Conversion *Conversion `json:"conversion,omitempty"`
}

// Conversion says how files became facts that are not three tab-separated texts.
type Conversion struct {
	// Formats are the formats of the files, separated by commas.
	Formats string `json:"formats,omitempty"`
	// Headers counts the first lines that were left out because they have the names of columns.
	Headers int64 `json:"headers,omitempty"`
	// HeadersAgain counts the lines that were left out because they repeat them.
	HeadersAgain int64 `json:"headers_again,omitempty"`
	// Literals counts the statements of RDF and KGTK that were left out because their object is a literal, Qualifiers
	// the rows of KGTK that are about another row.
	Literals   int64 `json:"literals,omitempty"`
	Qualifiers int64 `json:"qualifiers,omitempty"`
	// Comments counts the lines before the facts that begin with #.
	Comments int64 `json:"comments,omitempty"`
	// JudgedFalse counts the facts that are left out because a file's verdicts judge them false, Refused the lines of
	// others that state them, Unjudged the rows of a file with verdicts on which none counts.
	JudgedFalse int64 `json:"judged_false,omitempty"`
	Refused     int64 `json:"refused,omitempty"`
	Unjudged    int64 `json:"unjudged,omitempty"`
	// Unread are the columns other than head, relation and tail.
	Unread []Column `json:"unread,omitempty"`
	// Unlabeled counts the ids, as often as they occur, for which the files of names have none.
	Unlabeled int64 `json:"unlabelled,omitempty"`
	// Split says how one file was divided.
	Split *Division `json:"split,omitempty"`
}

// Column is a column that is not read.
type Column struct {
	// Name is the column's name in the header, or "column 4".
	Name string `json:"name"`
	// False counts the rows with the label of false facts, such as -1, if the column has nothing but such labels.
	False int64 `json:"false,omitempty"`
}

// Graph is the size of a graph.
type Graph struct {
	Entities   int64   `json:"entities"`
	Facts      int64   `json:"facts"`
	Edges      int64   `json:"edges"`
	MeanDegree float64 `json:"mean_degree"`
	Degrees    Degrees `json:"degrees"`
	// Types counts the types of entities, if the dataset gives any.
	Types *Types `json:"types,omitempty"`
}

// Degrees says how unevenly the facts of a graph are spread over its entities.
type Degrees struct {
	// Median is the median number of facts of an entity, as head or tail.
	Median int64 `json:"median"`
	// MostIn and MostOut are the largest numbers of facts with one tail, and with one head.
	MostIn  int64 `json:"most_in"`
	MostOut int64 `json:"most_out"`
}

// Types counts the rows of the types of entities.
type Types struct {
	// Types is the number of types, Entities the number of entities with a type, Listed the number of rows in
	// the dataset, Unknown the number of rows whose entity the graph does not have.
	Types    int64 `json:"types"`
	Entities int64 `json:"entities"`
	Listed   int64 `json:"listed"`
	Unknown  int64 `json:"unknown"`
	// UnknownNames are the first entities that the graph does not have.
	UnknownNames []string `json:"unknown_names,omitempty"`
}

// Division says how facts were divided.
type Division struct {
	// Facts counts the facts of training, validation and test, repetitions included.
	Facts [3]int64 `json:"facts"`
	// Moved counts the facts that were moved to training, because one of their names is in no training fact.
	Moved int64 `json:"moved"`
	// Untested is the number of relations without a test fact, whose answers no metric measures.
	// UntestedNames are the first ten.
	Untested      int      `json:"untested"`
	UntestedNames []string `json:"untested_names,omitempty"`
	// NearInverse is the number of relations of a pair one of which is nearly a part of the other's inverse,
	// or that are nearly symmetric, NearSame of those where one is nearly a part of the other. Pairs lists
	// them, the first hundred.
	NearInverse int    `json:"near_inverse"`
	NearSame    int    `json:"near_same"`
	Pairs       []Pair `json:"pairs,omitempty"`
	// Sampled says that not all pairs of entities were compared to find them.
	Sampled bool `json:"sampled,omitempty"`
}

// Pair is two relations that give away each other's facts.
type Pair struct {
	// Relation and Other are equal if the relation is symmetric.
	Relation string `json:"relation"`
	Other    string `json:"other"`
	// Inverse reports whether the facts of one are the inverses of the other's; otherwise both have the same direction.
	Inverse bool `json:"inverse"`
	// Share is the part of the facts of the smaller one, or of the larger one if that has few, that the other has too.
	Share float64 `json:"share"`
}

// Graph returns the size of the training graph.
func (d Dataset) Graph() Graph {
	return Graph{Entities: d.Entities, Facts: d.Facts, Edges: d.Edges, MeanDegree: d.MeanDegree, Degrees: d.Degrees, Types: d.Types}
}

// Check returns an error for numbers that no graph has.
func (d Dataset) Check() error {
	return strict.First(strict.Optional("inference_graph", d.InferenceGraph, strict.Value), strict.Each("known_share", d.KnownShare, strict.Share),
		d.Graph().Check(), strict.Between("relations", d.Relations, 1, math.MaxInt32/2), strict.Count("background", d.Background),
		strict.Count("rejected", d.Rejected), strict.Counts("queries", d.Queries), strict.Counts("distinct", d.Distinct),
		strict.Counts("repeated", d.Repeated), strict.Counts("known", d.Known))
}

// Check returns an error for numbers that no graph has.
func (g Graph) Check() error {
	return strict.First(strict.Optional("types", g.Types, strict.Value), strict.Between("entities", g.Entities, 1, math.MaxInt32),
		strict.Between("facts", g.Facts, 1, math.MaxInt64/2), strict.Between("edges", g.Edges, 2*g.Facts, 2*g.Facts),
		strict.AtLeastZero("mean_degree", g.MeanDegree), strict.Value("degrees", g.Degrees))
}

// Check returns an error for numbers that no graph has.
func (d Degrees) Check() error {
	return strict.First(strict.Count("median", d.Median), strict.Count("most_in", d.MostIn), strict.Count("most_out", d.MostOut))
}

// Check returns an error for negative numbers.
func (t Types) Check() error {
	return strict.First(strict.Count("types", t.Types), strict.Count("entities", t.Entities), strict.Count("listed", t.Listed),
		strict.Count("unknown", t.Unknown))
}

// ReadDataset reads summary.json of a graph/ folder.
func ReadDataset(ctx context.Context, folder string) (Dataset, error) {
	return storage.ReadJSON[Dataset](ctx, storage.Join(folder, SummaryFile))
}
