// Package random derives random numbers from --seed and the key of an element, so that a result
// does not depend on the order of elements, on sharding, or on the number of workers.
package random
