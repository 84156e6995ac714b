package wire

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

// MaxMoveDt is the longest span of a move that a container carries, 1 s: the
// most that Settings.MaxMoveDeltaTime can be.
const MaxMoveDt = components.Second

// Orders and units of a chain's codes.
const (
	dtUnit      = 240 // 1/240 s: whole frames at 20, 30, 60, 120 and 240 Hz
	dtUnitOrder = 2
	dtOrder     = 9
	gapDtOrder  = 2
	gapOrder    = 10
	turnOrder   = 4
	slewOrder   = 2
	viewBits    = 6
	viewReach   = 16
	timeFarBits = timeBits

	// maxReach is the most time that lies between the oldest and the newest
	// move: half the reset period, so that a stamp that is larger than its
	// successor's can only mean a reset.
	maxReach = components.StampResetPeriod / 2
	// maxSlew bounds how far the obstacle time of a move leaves the stamps.
	maxSlew = 1 << 32
)

// The classes of a move that is coded against the one behind it in time: so
// many zero bits and a one, the last without its one.
const (
	classHeld  = iota // all goes on as before
	classStick        // but for the acceleration
	classYaw          // but for the control yaw
	classSlew         // but for the obstacle time
	classOther
)

// chain is what both ends know while they go from the newest move of a
// container to older ones: the last move, and how things changed up to it.
type chain struct {
	stick Stick
	cmd   components.MoveCommand
	push  push
	frame frame // of cmd's yaw
	// turn is how far the control rotation went from the move before to this
	// one, slew by how much the obstacle time went further than the stamps.
	// Both are expected to be the same again.
	turn components.PackedRotator
	slew components.Ticks
	// reach is the time from the end of New back to the end of this move.
	reach components.Ticks
}

func legalFlags(f components.MoveFlags) bool { return f&components.FlagReserved == 0 }

func legalMove(m *components.MoveCommand) bool {
	_, ok := onTenths(m.Acceleration)
	return ok && m.Stamp > 0 && m.Stamp < 1<<components.StampBits && m.Dt > 0 && m.Dt <= MaxMoveDt && legalFlags(m.Flags)
}

// writeNew writes the newest move.
func (c *chain) writeNew(w *bits.Writer, m *components.MoveCommand, ctx *ContainerContext) {
	if !legalMove(m) {
		w.Refuse()
	}
	w.WriteBits(uint64(m.Stamp), components.StampBits)
	writeDt(w, m.Dt)
	writeControl(w, m.Control)
	f := frameOf(m.Control.Yaw)
	p := c.stick.writeFirst(w, m.Acceleration, &f)
	w.WriteBool(m.Flags != 0)
	if m.Flags != 0 {
		w.WriteBits(uint64(m.Flags), 8)
	}
	d := m.ObstacleTime - ctx.ViewTime
	near := ctx.HasView && d > -viewReach && d < viewReach
	w.WriteBool(!near)
	if near {
		w.WriteBits(uint64(m.ObstacleTime), viewBits)
	} else {
		w.WriteBits(uint64(m.ObstacleTime), timeFarBits)
	}
	writeRef(w, m.Profile)
	*c = chain{stick: c.stick, cmd: *m, push: p, frame: f}
}

func (c *chain) readNew(t *track, ctx *ContainerContext) {
	r, m := t.r, &components.MoveCommand{}
	t.at("stamp")
	m.Stamp = components.Stamp(r.ReadBits(components.StampBits))
	t.check(m.Stamp != 0)
	t.at("dt")
	m.Dt = readDt(r)
	t.at("control")
	m.Control = readControl(r)
	t.at("acceleration")
	f := frameOf(m.Control.Yaw)
	p := c.stick.readFirst(r, &f)
	m.Acceleration = p.acc
	t.at("flags")
	if r.ReadBool() {
		m.Flags = components.MoveFlags(r.ReadBits(8))
		t.check(m.Flags != 0 && legalFlags(m.Flags))
	}
	t.at("obstacle time")
	if r.ReadBool() {
		m.ObstacleTime = components.Ticks(bits.Extend(int64(ctx.ViewTime), r.ReadBits(timeFarBits), timeFarBits))
	} else {
		t.check(ctx.HasView)
		m.ObstacleTime = components.Ticks(bits.Extend(int64(ctx.ViewTime), r.ReadBits(viewBits), viewBits))
	}
	t.at("profile")
	m.Profile = readRef(r)
	*c = chain{stick: c.stick, cmd: *m, push: p, frame: f}
}

// gap is the time between the end of an older move and the start of the
// chain's last one. A stamp that is not smaller was made before a reset. It is
// negative if the two overlap.
func (c *chain) gap(older components.Stamp) components.Ticks {
	g := components.Ticks(c.cmd.Stamp) - c.cmd.Dt - components.Ticks(older)
	if older >= c.cmd.Stamp {
		g += components.StampResetPeriod
	}
	return g
}

// older is the stamp that lies gap before the start of the chain's last move;
// 0 if there is none.
func (c *chain) older(gap components.Ticks) components.Stamp {
	v := components.Ticks(c.cmd.Stamp) - c.cmd.Dt - gap
	if v <= 0 {
		v += components.StampResetPeriod
	}
	// maxReach keeps a stamp from before a reset the larger one.
	if c.reach+c.cmd.Dt+gap > maxReach || v <= 0 {
		return 0
	}
	return components.Stamp(v)
}

// frameOf is the frame of a yaw, which is mostly that of the move before.
func (c *chain) frameOf(yaw uint16) frame {
	if yaw == c.frame.yaw {
		return c.frame
	}
	return frameOf(yaw)
}

func turned(newer, older components.PackedRotator) components.PackedRotator {
	return components.PackedRotator{Pitch: newer.Pitch - older.Pitch, Yaw: newer.Yaw - older.Yaw, Roll: newer.Roll - older.Roll}
}

// writeOlder writes a move that ended before the chain's last one began. apart
// is for a move that is expected not to end just there: its gap goes first.
func (c *chain) writeOlder(w *bits.Writer, m *components.MoveCommand, apart bool) {
	last := &c.cmd
	gap := c.gap(m.Stamp)
	slew := last.ObstacleTime - m.ObstacleTime - (last.Dt + gap)
	if !legalMove(m) || gap < 0 || c.older(gap) != m.Stamp || slew < -maxSlew || slew > maxSlew {
		w.Refuse()
		return
	}
	control := turned(last.Control, c.turn)
	f := c.frameOf(m.Control.Yaw)
	held := c.stick.held(&c.push, &f)

	sameTime := (apart || gap == 0) && m.Dt == last.Dt
	sameRest := m.Flags == last.Flags && m.Profile == last.Profile
	sameControl := m.Control == control
	onlyYaw := m.Control.Pitch == control.Pitch && m.Control.Roll == control.Roll
	sameAcc := m.Acceleration == held
	next := push{held, f.yaw, c.push.grid, c.push.x, c.push.y}

	class := classOther
	switch {
	case !sameTime || !sameRest:
	case sameControl && sameAcc && slew == c.slew:
		class = classHeld
	case sameControl && slew == c.slew:
		class = classStick
	case onlyYaw && sameAcc && slew == c.slew:
		class = classYaw
	case sameControl && sameAcc:
		class = classSlew
	}
	if apart {
		writeGap(w, gap, last.Dt)
	}
	writeClass(w, class)
	switch class {
	case classStick:
		next = c.stick.writeNext(w, m.Acceleration, &f, &c.push)
	case classYaw:
		writeTurn(w, m.Control.Yaw-control.Yaw)
	case classSlew:
		w.WriteInt(int64(slew-c.slew), slewOrder)
	case classOther:
		w.WriteBool(!sameTime)
		if !sameTime {
			if !apart {
				writeGap(w, gap, last.Dt)
			}
			w.WriteBool(m.Dt != last.Dt)
			if m.Dt != last.Dt {
				writeDt(w, m.Dt)
			}
		}
		w.WriteResidual(int64(slew-c.slew), slewOrder)
		w.WriteBool(!sameControl)
		if !sameControl {
			w.WriteResidual(int64(int16(m.Control.Yaw-control.Yaw)), turnOrder)
			w.WriteResidual(int64(int16(m.Control.Pitch-control.Pitch)), turnOrder)
			w.WriteResidual(int64(int16(m.Control.Roll-control.Roll)), turnOrder)
		}
		w.WriteBool(!sameAcc)
		if !sameAcc {
			next = c.stick.writeNext(w, m.Acceleration, &f, &c.push)
		}
		w.WriteBool(m.Flags != last.Flags)
		if m.Flags != last.Flags {
			w.WriteBits(uint64(m.Flags), 8)
		}
		w.WriteBool(m.Profile != last.Profile)
		if m.Profile != last.Profile {
			writeRef(w, m.Profile)
		}
	}
	*c = chain{c.stick, *m, next, f, turned(last.Control, m.Control), slew, c.reach + last.Dt + gap}
}

// readOlder reads what writeOlder wrote; the move is then the chain's last.
func (c *chain) readOlder(t *track, apart bool) {
	r, last := t.r, c.cmd
	m := last
	gap, slew := components.Ticks(0), c.slew
	if apart {
		t.at("stamp")
		gap = readGap(r, last.Dt)
	}
	t.at("class")
	class := readClass(r)
	m.Control = turned(last.Control, c.turn)
	if class == classOther {
		t.at("stamp")
		if r.ReadBool() {
			if !apart {
				gap = readGap(r, last.Dt)
			}
			if r.ReadBool() {
				m.Dt = readDt(r)
				t.check(m.Dt != last.Dt)
			} else {
				t.check(!apart && gap != 0)
			}
		}
	}
	t.at("stamp")
	m.Stamp = c.older(gap)
	t.check(m.Stamp != 0)
	t.at("obstacle time")
	switch class {
	case classSlew:
		slew += components.Ticks(r.ReadInt(slewOrder))
	case classOther:
		slew += components.Ticks(r.ReadResidual(slewOrder))
	}
	t.check(slew >= -maxSlew && slew <= maxSlew)
	m.ObstacleTime = last.ObstacleTime - (last.Dt + gap) - slew
	t.at("control")
	switch {
	case class == classYaw:
		m.Control.Yaw += readTurn(r)
	case class == classOther && r.ReadBool():
		before := m.Control
		m.Control.Yaw += residual16(r)
		m.Control.Pitch += residual16(r)
		m.Control.Roll += residual16(r)
		t.check(m.Control != before)
	}
	t.at("acceleration")
	f := c.frameOf(m.Control.Yaw)
	next := push{c.stick.held(&c.push, &f), f.yaw, c.push.grid, c.push.x, c.push.y}
	if class == classStick || (class == classOther && r.ReadBool()) {
		next = c.stick.readNext(r, &f, &c.push)
	}
	m.Acceleration = next.acc
	if class == classOther {
		t.at("flags")
		if r.ReadBool() {
			m.Flags = components.MoveFlags(r.ReadBits(8))
			t.check(m.Flags != last.Flags && legalFlags(m.Flags))
		}
		t.at("profile")
		if r.ReadBool() {
			m.Profile = readRef(r)
			t.check(m.Profile != last.Profile)
		}
	}
	*c = chain{c.stick, m, next, f, turned(last.Control, m.Control), slew, c.reach + last.Dt + gap}
}

func writeClass(w *bits.Writer, class int) {
	if class == classOther {
		w.WriteBits(0, classOther)
		return
	}
	w.WriteBits(1<<class, uint(class)+1)
}

func readClass(r *bits.Reader) int {
	class := classHeld
	for class < classOther && r.Err() == nil && !r.ReadBool() {
		class++
	}
	return class
}

// writeDt: a zero bit and the count of dtUnit, or a one bit and ticks.
func writeDt(w *bits.Writer, dt components.Ticks) {
	w.WriteBool(dt%dtUnit != 0)
	if dt%dtUnit == 0 {
		w.WriteUint(uint64(dt/dtUnit-1), dtUnitOrder)
		return
	}
	w.WriteUint(uint64(dt-1), dtOrder)
}

// readDt is 1 on an error, so that what is computed from it stays in range.
func readDt(r *bits.Reader) components.Ticks {
	unit, order := uint64(dtUnit), uint(dtUnitOrder)
	if r.ReadBool() {
		unit, order = 1, dtOrder
	}
	v := r.ReadUint(order) + 1
	if v == 0 || v > uint64(MaxMoveDt)/unit || (unit == 1 && v%dtUnit == 0) {
		r.Invalid()
		return 1
	}
	return components.Ticks(v * unit)
}

// writeGap: a zero bit and the count of dt, or a one bit and ticks.
func writeGap(w *bits.Writer, gap, dt components.Ticks) {
	w.WriteBool(gap%dt != 0)
	if gap%dt == 0 {
		w.WriteUint(uint64(gap/dt), gapDtOrder)
		return
	}
	w.WriteUint(uint64(gap), gapOrder)
}

func readGap(r *bits.Reader, dt components.Ticks) components.Ticks {
	whole := !r.ReadBool()
	unit, order := components.Ticks(1), uint(gapOrder)
	if whole {
		unit, order = dt, gapDtOrder
	}
	v := r.ReadUint(order)
	if v > uint64(maxReach/unit) || (!whole && components.Ticks(v)%dt == 0) {
		r.Invalid()
		return 0
	}
	return components.Ticks(v) * unit
}

// writeControl: a zero bit and the yaw, or a one bit and a QRot.
func writeControl(w *bits.Writer, c components.PackedRotator) {
	level := c.Pitch == 0 && c.Roll == 0
	w.WriteBool(!level)
	if level {
		w.WriteBits(uint64(c.Yaw), 16)
		return
	}
	w.WriteQRot(bits.QRot(c))
}

func readControl(r *bits.Reader) components.PackedRotator {
	if !r.ReadBool() {
		return components.PackedRotator{Yaw: uint16(r.ReadBits(16))}
	}
	c := components.PackedRotator(r.ReadQRot())
	if c.Pitch == 0 && c.Roll == 0 {
		r.Invalid()
	}
	return c
}

// writeTurn writes a turn that is not zero.
func writeTurn(w *bits.Writer, d uint16) { w.WriteUint(bits.Zigzag(int64(int16(d)))-1, turnOrder) }

func readTurn(r *bits.Reader) uint16 {
	u := r.ReadUint(turnOrder)
	if u >= 1<<16-1 {
		r.Invalid()
		return 0
	}
	return uint16(bits.Unzigzag(u + 1))
}

func residual16(r *bits.Reader) uint16 {
	d := r.ReadResidual(turnOrder)
	if d != int64(int16(d)) {
		r.Invalid()
		return 0
	}
	return uint16(d)
}
