package report

// What other pipelines write, as far as the page shows it.

// distanceSummary is distances/<split>/distribution.json.
type distanceSummary struct {
	Split      string           `json:"split"`
	Queries    int64            `json:"queries"`
	ByDistance map[string]int64 `json:"by_distance"`
}

// messageSummary is messages/<split>/summary.json.
type messageSummary struct {
	Split          string          `json:"split"`
	Queries        int64           `json:"queries"`
	Edges          int64           `json:"edges"`
	Configurations []messageCounts `json:"configurations"`
}

// messageCounts are the messages of all queries of a split, for one depth and one window.
type messageCounts struct {
	Layers               int     `json:"layers"`
	Delta                int     `json:"delta"`
	NBFNet               int64   `json:"nbfnet"`
	Kept                 int64   `json:"kept"`
	KeptEmpty            int64   `json:"kept_empty"`
	PrunedEmpty          int64   `json:"pruned_empty"`
	PrunedRedundant      int64   `json:"pruned_redundant"`
	Decrease             float64 `json:"decrease"`
	DecreaseWithoutEmpty float64 `json:"decrease_without_empty"`
	AStar                int64   `json:"astar"`
}
