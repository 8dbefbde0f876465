package window_test

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"tagnet/model/engine/kernel"
	"tagnet/model/engine/window"
	"tagnet/model/graph"
)

// Example lays out the graph of the package documentation.
func Example() {
	const entities = "abcdefgh"
	relations := []string{"r", "k", "~r", "~k"}
	g, err := graph.New(8, 2, []graph.Fact{
		{Head: 0, Relation: 0, Tail: 1}, // a-r-b
		{Head: 0, Relation: 0, Tail: 2},
		{Head: 1, Relation: 1, Tail: 2},
		{Head: 1, Relation: 0, Tail: 3},
		{Head: 1, Relation: 0, Tail: 4},
		{Head: 2, Relation: 0, Tail: 5},
		{Head: 5, Relation: 0, Tail: 6},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	l := window.NewLayout(g, kernel.Available()[0], nil)
	l.Fill(graph.Query{}, 2, 2, 0)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "row\tentity\tdistance\tdegree\tparents\tsiblings\tchildren\t.")
	for row, o := range l.Entities {
		fmt.Fprintf(out, "%d\t%c\t%d\t%d\t", row, entities[o], l.Distance(int32(row)), l.Degrees[row])
		for kind := range 3 {
			var senders []string
			for e := l.Senders.Offsets[3*row+kind]; e < l.Senders.Offsets[3*row+kind+1]; e++ {
				sender := l.Entities[l.SenderRow(l.Senders.Rows[e], kind)]
				senders = append(senders, fmt.Sprintf("%c %s", entities[sender], relations[l.Senders.Relations[e]]))
			}
			fmt.Fprintf(out, "%s\t", strings.Join(senders, ", "))
		}
		fmt.Fprintln(out, ".")
	}
	out.Flush()

	l.FindEquivalent(window.Criteria{})
	for age, a := range l.Ages {
		for _, d := range a.Duplicates {
			fmt.Printf("age %d: %c copies %c\n", age, entities[l.Entities[d.Row]], entities[l.Entities[d.Of]])
		}
	}
	// Output:
	// row  entity  distance  degree  parents  siblings  children    .
	// 0    a       0         2                          b ~r, c ~r  .
	// 1    c       1         3       a r      b k       f ~r        .
	// 2    b       1         4       a r      c ~k      d ~r, e ~r  .
	// 3    d       2         1       b r                            .
	// 4    e       2         1       b r                            .
	// 5    f       2         2       c r                            .
	// age 0: e copies d
}
