package probabilities

// LeastAnnounced is leastAnnounced.
var LeastAnnounced = &leastAnnounced
