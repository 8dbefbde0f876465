package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The gradients of sums of DistMult's messages round as portable does, operation by operation: a product,
// then the sum. They go over one receiver's senders, for the first two vectors of every row or for one.

// eachMessage is the loop over count senders; each gets the offsets of the sender's and the relation's row.
func (m *machine) eachMessage(each func(sender, relation reg.GPVirtual)) {
	senders, relations, count := pointer("senders"), pointer("relations"), pointer("count")
	stride := pointer("stride")
	next, end := m.label("message"), m.label("end")
	Label(next)
	TESTQ(count, count)
	JZ(LabelRef(end))
	sender, relation := GP64(), GP64()
	MOVLQSX(Mem{Base: senders}, sender)
	MOVLQSX(Mem{Base: relations}, relation)
	IMULQ(stride, sender)
	IMULQ(stride, relation)
	each(sender, relation)
	ADDQ(U8(4), senders)
	ADDQ(U8(4), relations)
	DECQ(count)
	JMP(LabelRef(next))
	Label(end)
}

// sumsBackward writes the backward pass of a receiver's sum of products: bySum is the sum's gradient, the same for
// every message. byStates and byEmbeddings are the tables of gradients, to whose rows it adds.
func (m *machine) sumsBackward() {
	for i, name := range []string{"backwardProducts", "backwardTwoProducts"} {
		vectors := i + 1
		m.function(name, "func(bySum, states, embeddings, byStates, byEmbeddings *float32, senders, relations *int32, count, stride int)",
			"adds the gradients of the products' factors.")
		bySum, states, embeddings := pointer("bySum"), pointer("states"), pointer("embeddings")
		byStates, byEmbeddings := pointer("byStates"), pointer("byEmbeddings")
		for j := range vectors {
			VMOVUPS(m.at(bySum, j), m.v(j))
		}
		m.eachMessage(func(sender, relation reg.GPVirtual) {
			for j := range vectors {
				x := m.v(vectors + j)
				VMULPS(m.indexed(embeddings, relation, j), m.v(j), x)
				VADDPS(m.indexed(byStates, sender, j), x, x)
				VMOVUPS(x, m.indexed(byStates, sender, j))
				VMULPS(m.indexed(states, sender, j), m.v(j), x)
				VADDPS(m.indexed(byEmbeddings, relation, j), x, x)
				VMOVUPS(x, m.indexed(byEmbeddings, relation, j))
			}
		})
		VZEROUPPER()
		RET()
	}
}
