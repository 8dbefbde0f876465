// Package reach measures models whose queries propagate through a part of the graph, by the size of that part: trained with it, and only
// scored with it.
package reach
