package answer

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"tagnet/model/answer/probability"
)

// observations come from a shard, or from several.
type observations struct {
	labeled   []probability.Labeled
	unlabeled []probability.Observation
}

// encode returns the bytes of an element: the number of labeled observations, these, and the unlabeled ones.
func (o observations) encode() ([]byte, error) {
	element := binary.LittleEndian.AppendUint32(nil, uint32(len(o.labeled)))
	element, err := binary.Append(element, binary.LittleEndian, o.labeled)
	if err != nil {
		return nil, err
	}
	return binary.Append(element, binary.LittleEndian, o.unlabeled)
}

// add appends the observations of an element.
func (o *observations) add(element []byte) error {
	perLabeled, perUnlabeled := binary.Size(probability.Labeled{}), binary.Size(probability.Observation{})
	if len(element) < 4 {
		return fmt.Errorf("an element of %d bytes, want 4 or more", len(element))
	}
	count, rest := int(binary.LittleEndian.Uint32(element)), element[4:]
	if len(rest)/perLabeled < count || (len(rest)-count*perLabeled)%perUnlabeled != 0 {
		return fmt.Errorf("an element of %d bytes, want 4, %d for each of %d labeled observations, and a multiple of %d", len(element), perLabeled, count, perUnlabeled)
	}
	labeled := make([]probability.Labeled, count)
	unlabeled := make([]probability.Observation, (len(rest)-count*perLabeled)/perUnlabeled)
	r := bytes.NewReader(rest)
	if err := binary.Read(r, binary.LittleEndian, labeled); err != nil {
		return err
	}
	if err := binary.Read(r, binary.LittleEndian, unlabeled); err != nil {
		return err
	}
	o.labeled, o.unlabeled = append(o.labeled, labeled...), append(o.unlabeled, unlabeled...)
	return nil
}
