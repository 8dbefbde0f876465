package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pendingRows is the capacity of the rows that counters wait in (see kernel.Counters). The functions
// of this file and count.go handle rows of bits that are one vector register each.
const pendingRows = 256

// bits writes the functions of the search by bits: pull and push, with and without counting.
func (m *machine) bits() {
	for _, count := range []bool{false, true} {
		m.pull(count)
		m.push(count)
	}
	m.recordAll()
}

// rowShift returns the logarithm of the bytes of a row.
func (m *machine) rowShift() uint64 {
	if m.wide {
		return 6
	}
	return 5
}

// row returns the address of a row, and turns its number into its offset in bytes.
func (m *machine) row(table, number reg.GPVirtual) Mem {
	SHLQ(U8(m.rowShift()), number)
	return Mem{Base: table, Index: number, Scale: 1}
}

func (m *machine) move(from, to Op) {
	if m.wide {
		VMOVDQU64(from, to)
		return
	}
	VMOVDQU(from, to)
}

// either emits an instruction of three operands under its name in AVX-512 or in AVX2.
func (m *machine) either(wide func(...Op), narrow func(a, b, out Op), a, b, out Op) {
	if m.wide {
		wide(a, b, out)
		return
	}
	narrow(a, b, out)
}

func (m *machine) and(a, b, out Op) { m.either(VPANDQ, VPAND, a, b, out) }
func (m *machine) or(a, b, out Op)  { m.either(VPORQ, VPOR, a, b, out) }
func (m *machine) xor(a, b, out Op) { m.either(VPXORQ, VPXOR, a, b, out) }

// andNot computes out = a without b; a may be in memory.
func (m *machine) andNot(a, b, out Op) { m.either(VPANDNQ, VPANDN, a, b, out) }

func (m *machine) ones(v reg.VecPhysical) {
	if m.wide {
		VPTERNLOGD(U8(0xff), v, v, v)
		return
	}
	VPCMPEQD(v, v, v)
}

// test sets the zero flag where a and b have no bit in common.
func (m *machine) test(a, b reg.VecPhysical) {
	if m.wide {
		VPTESTMQ(a, b, reg.K1)
		KORTESTB(reg.K1, reg.K1)
		return
	}
	VPTEST(a, b)
}

// jumpIfWithin jumps to label if a is a subset of b. AVX-512 overwrites scratch.
func (m *machine) jumpIfWithin(a, b, scratch reg.VecPhysical, label string) {
	if m.wide {
		m.andNot(a, b, scratch)
		m.test(scratch, scratch)
		JEQ(LabelRef(label))
		return
	}
	VPTEST(a, b)
	JCS(LabelRef(label))
}

// list appends an entity to a list of count.
func (m *machine) list(name string, entity, count reg.GPVirtual) {
	MOVL(entity.As32(), Mem{Base: pointer(name), Index: count, Scale: 4})
}

// neighbors emits each for the edges of an entity, four at a time, which are then counted, and after
// after each four. It jumps to none where the entity has no edge. The last group repeats the last
// edge to make up four, and cut clears the repetitions before they are counted. So the processor has
// to predict only the number of groups: most entities have few edges, in no regular number.
func (m *machine) neighbors(entity reg.GPVirtual, c *counter, each func(neighbor reg.GPVirtual, v reg.VecPhysical), after func(), none string) {
	offsets, senders := pointer("offsets"), pointer("senders")
	e, left := GP64(), GP64()
	MOVQ(Mem{Base: offsets, Index: entity, Scale: 8}, e)
	MOVQ(Mem{Base: offsets, Index: entity, Scale: 8, Disp: 8}, left)
	SUBQ(e, left)
	JEQ(LabelRef(none))
	LEAQ(Mem{Base: senders, Index: e, Scale: 4}, e)
	fours, last := m.label("fours"), m.label("last")
	Label(fours)
	c.drainIfFull(fours)
	CMPQ(left, U8(4))
	JLE(LabelRef(last))
	// Whole groups of four.
	for i := range 4 {
		neighbor := GP64()
		MOVLQSX(Mem{Base: e, Disp: 4 * i}, neighbor)
		each(neighbor, c.x[i])
	}
	c.addFour()
	after()
	ADDQ(U8(16), e)
	SUBQ(U8(4), left)
	JMP(LabelRef(fours))
	Label(last)
	// The last group, of one to four.
	DECQ(left)
	for i := range 4 {
		neighbor := GP64()
		MOVQ(U32(uint32(i)), neighbor)
		CMPQ(neighbor, left)
		CMOVQGT(left, neighbor)
		MOVLQSX(Mem{Base: e, Index: neighbor, Scale: 4}, neighbor)
		each(neighbor, c.x[i])
	}
	c.cut(left)
	c.addFour()
}

// pull writes portable.Pull for all entities.
func (m *machine) pull(count bool) {
	name, signature := "pull", "func(count int, offsets *int64, senders *int32, frontier, reached, next, distances *uint64, "+
		"plane, distance int, found *int32, listed int"
	if count {
		name, signature = "pullCounted", signature+", planes, pending *uint64"
	}
	m.function(name, signature+") int", "is portable.Pull for rows of one vector.")
	missing, arriving, scratch := m.v(0), m.v(1), m.v(11)
	c := m.newCounter(count)
	frontier := pointer("frontier")
	o, listed := GP64(), Load(Param("listed"), GP64()).(reg.GPVirtual)
	XORQ(o, o)
	entity, nothing, next, full, end := m.label("entity"), m.label("nothing"), m.label("next"), m.label("full"), m.label("end")
	Label(entity)
	CMPQ(o, Load(Param("count"), GP64()))
	JGE(LabelRef(end))
	// Skip an entity that all searches have reached.
	at := GP64()
	MOVQ(o, at)
	m.ones(scratch)
	m.xor(m.row(pointer("reached"), at), scratch, missing)
	m.test(missing, missing)
	JEQ(LabelRef(nothing))
	m.zero(arriving)
	// Collect the neighbors' bits. Without counting, stop once no bit is missing.
	m.neighbors(o, c, func(u reg.GPVirtual, v reg.VecPhysical) {
		if count {
			m.and(m.row(frontier, u), missing, v)
			m.or(v, arriving, arriving)
			return
		}
		m.or(m.row(frontier, u), arriving, arriving)
	}, func() {
		if !count {
			m.jumpIfWithin(missing, arriving, scratch, full)
		}
	}, nothing)
	if !count {
		Label(full)
	}
	// Write what is new, list the entity, and record the distance.
	m.and(arriving, missing, arriving)
	m.test(arriving, arriving)
	JEQ(LabelRef(nothing))
	MOVQ(o, at)
	m.move(arriving, m.row(pointer("next"), at))
	m.list("found", o, listed)
	INCQ(listed)
	m.record(at, arriving, scratch, next)
	Label(next)
	INCQ(o)
	JMP(LabelRef(entity))
	Label(nothing)
	m.zero(arriving)
	MOVQ(o, at)
	m.move(arriving, m.row(pointer("next"), at))
	INCQ(o)
	JMP(LabelRef(entity))
	Label(end)
	c.finish()
	Store(listed, ReturnIndex(0))
	VZEROUPPER()
	RET()
	c.outOfLine()
}

// push writes portable.Push.
func (m *machine) push(count bool) {
	name, signature := "push", "func(count int, active *int32, offsets *int64, senders *int32, frontier, reached, next *uint64, found *int32, listed int"
	if count {
		name, signature = "pushCounted", signature+", planes, pending *uint64"
	}
	m.function(name, signature+") int", "is portable.Push for rows of one vector.")
	sent, before := m.v(0), m.v(1)
	c := m.newCounter(count)
	reached, next := pointer("reached"), pointer("next")
	i, listed := GP64(), Load(Param("listed"), GP64()).(reg.GPVirtual)
	XORQ(i, i)
	entity, none, end := m.label("entity"), m.label("none"), m.label("end")
	Label(entity)
	CMPQ(i, Load(Param("count"), GP64()))
	JGE(LabelRef(end))
	// sent are the bits of an active entity.
	u, at := GP64(), GP64()
	MOVLQSX(Mem{Base: pointer("active"), Index: i, Scale: 4}, u)
	MOVQ(u, at)
	m.move(m.row(pointer("frontier"), at), sent)
	m.neighbors(u, c, func(o reg.GPVirtual, v reg.VecPhysical) {
		at, isNew, isAny := GP64(), GP64(), GP64()
		MOVQ(o, at)
		m.move(m.row(reached, at), v)
		m.andNot(sent, v, v)
		row := Mem{Base: next, Index: at, Scale: 1}
		// The neighbor is always written behind the list; the list grows by it if these are its first new bits. That
		// needs no jump.
		m.list("found", o, listed)
		m.move(row, before)
		m.test(before, before)
		SETEQ(isNew.As8())
		m.or(v, before, before)
		m.move(before, row)
		m.test(v, v)
		SETNE(isAny.As8())
		ANDB(isAny.As8(), isNew.As8())
		MOVBQZX(isNew.As8(), isNew)
		ADDQ(isNew, listed)
	}, func() {}, none)
	Label(none)
	INCQ(i)
	JMP(LabelRef(entity))
	Label(end)
	c.finish()
	Store(listed, ReturnIndex(0))
	VZEROUPPER()
	RET()
	c.outOfLine()
}

// record records what was found in the row of an entity at offset at, for the Hop's distance. It
// jumps to end where nothing is recorded.
func (m *machine) record(at reg.GPVirtual, found, v reg.VecPhysical, end string) {
	distance, distances := Load(Param("distance"), GP64()).(reg.GPVirtual), pointer("distances")
	TESTQ(distance, distance)
	JLT(LabelRef(end))
	row := Mem{Base: pointer("reached"), Index: at, Scale: 1}
	m.or(row, found, v)
	m.move(v, row)
	TESTQ(distances, distances)
	JEQ(LabelRef(end))
	ADDQ(distances, at)
	plane := Load(Param("plane"), GP64())
	for k := range 4 {
		without := m.label("without")
		BTQ(U8(k), distance)
		JCC(LabelRef(without))
		m.or(Mem{Base: at}, found, v)
		m.move(v, Mem{Base: at})
		Label(without)
		ADDQ(plane, at)
	}
}

// recordAll writes Hop.record.
func (m *machine) recordAll() {
	m.function("record", "func(count int, found *int32, next, reached, distances *uint64, plane, distance int)",
		"is Hop.record for rows of one vector.")
	found, next, i := pointer("found"), pointer("next"), GP64()
	XORQ(i, i)
	entity, skip, end := m.label("entity"), m.label("skip"), m.label("end")
	Label(entity)
	CMPQ(i, Load(Param("count"), GP64()))
	JGE(LabelRef(end))
	at := GP64()
	MOVLQSX(Mem{Base: found, Index: i, Scale: 4}, at)
	m.move(m.row(next, at), m.v(0))
	m.record(at, m.v(0), m.v(1), skip)
	Label(skip)
	INCQ(i)
	JMP(LabelRef(entity))
	Label(end)
	VZEROUPPER()
	RET()
}
