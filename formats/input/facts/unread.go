package facts

import (
	"slices"
	"strconv"

	"tagnet/formats/workspace/counts"
)

// Column is a column that is not read.
type Column = counts.Column

// falseLabels maps the label of true facts to the labels of false ones.
var falseLabels = map[string][]string{"1": {"-1", "0"}, "true": {"false"}, "True": {"False"}}

// unread counts the first three different values of a column that is not read.
type unread struct {
	name   string
	at     int
	values map[string]int64
}

// unreadOf returns the columns of a row other than head, relation and tail. names is nil if the columns have no names,
// and a name may be empty.
func unreadOf(row, names []string, at [3]int) (columns []unread) {
	for i := range row {
		if slices.Contains(at[:], i) {
			continue
		}
		name := "column " + strconv.Itoa(i+1)
		if names != nil && names[i] != "" {
			name = names[i]
		}
		columns = append(columns, unread{name, i, map[string]int64{}})
	}
	return columns
}

// add counts the column's value in a row, for the first three different values.
func (u *unread) add(fields []string) {
	if u.at >= len(fields) {
		return
	}
	value := fields[u.at]
	if _, known := u.values[value]; known || len(u.values) < 3 {
		u.values[value]++
	}
}

// columnsOf returns columns with the counts of their labels.
func columnsOf(columns []unread) (list []Column) {
	for _, u := range columns {
		c := Column{Name: u.name}
		for right, wrong := range falseLabels {
			for _, label := range wrong {
				if len(u.values) == 2 && u.values[right] > 0 && u.values[right]+u.values[label] > 2 {
					c.False += u.values[label]
				}
			}
		}
		list = append(list, c)
	}
	return list
}
