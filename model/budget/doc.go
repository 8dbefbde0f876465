// Package budget estimates the memory of a worker process and divides a budget (--memory) by the
// estimate: threads, bytes of buffers, and Go's soft limit.
//
// There is one Estimate per pipeline, computed from sizes alone, before anything is built or
// deleted. Each is a list of named rows and the bytes of a thread. With V entities, E edges and R
// relations (inverses included), d dimensions, L layers, w the width of a receiver's features (5 d
// for PNA, else 2 d) and a = min(delta, L) + 1 ages of a state:
//
//	row           bytes                           what takes it
//	Go and Beam   160 MiB                         the program, Go's runtime, Beam's local runner
//	graph         8 V + 8 E + 16 (V + R) + names  offsets, senders, relations and names, of each loaded graph
//	              + 12 E / files                  a file of edges while it is read
//	queries       160 each, 32 + 4 an answer      queries, grouped by source; known answers
//	              (training 48 an edge)           training facts and their order
//	parameters    8 a parameter (training 20)     weights and their file; optimizer and checkpoint
//	              + 4 L (3 w d + R d d)           folded maps; a matrix per relation where relations depend on the query
//	              9 an edge + 32 (L + 2) R d      or relations from a graph: that graph, what eight base relations share
//	              + 4 V d (L + 3) + 16 E          with policy full, states that the queries of one share in scoring
//	averaging     60 a parameter                  rounds of several workers: sums, results and their files
//	              and 24 E a further device       with --device cuda:all: the order of the facts; parameters, batch and threads count once a device
//	batch         4 L d (2 R + 3 w) a query       relation embeddings and gradients of each query of a training batch
//	              with --device cuda, instead     edges in the device's order with links, or weights in the kernels' dimensions;
//	              29 E + 24 V or 20 a parameter   a batch's candidates (auto may fall back to the CPU, and counts that)
//	              + 8 a candidate of a batch
//	rankings      560 a row of a shard's tables   results as rows and columns, of a shard that is scored and one that is written
//	explanations  3 KiB a path of two shards      score: rows with text and steps
//	baselines     12 an edge                      score: how often each entity answers each relation
//	triples       120 a line, 400 a row           score: given triples or pairs, and their rows while they are sorted
//	names         64 V                            serve: the map from names to ids
//	requests      what --queue queries may hold   serve: answers, bodies, connections
//	meetings      R R / 8, up to 62 times         rows of bits of the bundles under way, before and after a barrier
//	searches      480 a reach entity, 18 an edge  bundle: what the local runner holds of the parts that are searched at a time
//	elements      24 MiB                          what is under way in the local runner
//	garbage       1/8 of all but the first row    what Go has not collected yet
//	a thread
//	  scoring     16 V d                          states of two queries and of two layers
//	              + 132 V + 18 E + 22 V a         who sends to whom, by layer; equal states
//	              + 12 L R d                      relation embeddings of two queries
//	  training    4 V a (3 d + w)                 states, gradients, and what the backward pass reads
//	              + 132 V + 18 E + 4 L R d        as above
//	  explaining  scoring, a training's propagator, of which only what an answer depends on is touched
//	              + (60 E + 400 V) a              edges that a path may take; best paths to each entity, for 10 paths
//	  serving     scoring, and training without a   paths need a backward pass
//	              score network, 32 E (delta + 1)
//	  scoring with relations from a graph         states before and after a layer, and who sends to whom, with policy full
//	              8 V d + 68 V + 12 E             and of triples, in graphs without a fact, states of all layers beside these
//	  searching   V (24 + 64 with distances) x words of 64 sources
//
// An estimate is an upper bound. The table compares it with measured peaks of resident memory (VmHWM),
// in MiB, on two cores of an EPYC (Zen 4), with the preset of each dataset. "least" is the smallest
// budget that a command accepts, as its refusal of --memory 1 names it, and the budget of the run:
//
//	command, on WN18RR                           least   peak
//	score --split valid --threads 2                317    243
//	score --queries (60) --explain --threads 2     919    386
//	messages --split valid                         212    117
//	distances --split valid                        206    191
//	train --threads 2, 160 steps of an epoch      616    218
//	serve --threads 2, 240 paths for 6 clients     920    167
//
//	command, on FB15k-237                        least   peak
//	score --queries (1,500 queries) --threads 2    309    243
//	score --queries (60) --explain --threads 2     705    459
//	messages --split valid                         220    126
//	distances --split valid                        212    163
//	train --threads 2, 4 steps of an epoch        482    413
//	serve --threads 2, 240 paths for 6 clients     768    351
//
// For example:
//
//	pipelines/score --workspace W --split valid --threads 2 --memory 1      # is refused and names the least budget
//	grep VmHWM /proc/PID/status                                             # near the end of a run with that budget
package budget
