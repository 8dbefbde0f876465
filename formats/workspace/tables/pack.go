package tables

import "tagnet/formats/hop"

// Distances are packed into 4 bits per entity: entity 2i is in the low half of byte i, entity 2i+1 in
// the high half. hop.Packed fills the last half if the number of entities is odd.

// PackedLen returns the number of bytes of the packed distances of a number of entities.
func PackedLen(entities int) int { return (entities + 1) / 2 }

// Unpack fills distances, whose length is the number of entities,
// from at least PackedLen bytes.
func Unpack(packed []byte, distances []uint8) {
	whole := len(distances) / 2
	for i, b := range packed[:whole] {
		pair := unpacked[b]
		distances[2*i], distances[2*i+1] = pair[0], pair[1]
	}
	if len(distances)%2 == 1 {
		distances[2*whole] = unpacked[packed[whole]][0]
	}
}

// unpacked holds the two distances of every byte.
var unpacked = func() (pairs [256][2]uint8) {
	for b := range pairs {
		for half, value := range [2]int{b & 15, b >> 4} {
			pairs[b][half] = uint8(value)
			if value == hop.Packed {
				pairs[b][half] = hop.Unreached
			}
		}
	}
	return pairs
}()

// PackedAt returns the distance of one entity.
func PackedAt(packed []byte, entity int32) uint8 { return unpacked[packed[entity/2]][entity%2] }
