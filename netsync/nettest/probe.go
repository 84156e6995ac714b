package nettest

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/components/exact"
)

// OwnerFrame is what an owner's character did and showed in one frame, all in
// world axes and cm.
type OwnerFrame struct {
	// Mesh is where the character is drawn at the end of the frame.
	Mesh components.Vec3
	// Start and End are the capsule before and after the frame's own moves:
	// after Correct and Replay, and after Predict. Where what is drawn lies
	// between two fixed ticks, they are the ends of the drawn part instead.
	Start, End components.Vec3
	// OffsetBefore is the smoothing offset that the frame's corrections left,
	// OffsetAfter what the smoothing law then made of it.
	OffsetBefore, OffsetAfter components.Vec3
	// Teleported: the step to here is meant to be seen.
	Teleported bool
}

// OwnerProbe measures owner_pop_cm on an owning client: how far the step that
// was drawn differs from what the owner's own moves and the smoothing law
// account for. A correction that is hidden well leaves 0.
type OwnerProbe struct {
	Pop   Histogram // cm
	last  components.Vec3
	begun bool
}

// Frame takes one drawn frame.
func (p *OwnerProbe) Frame(f *OwnerFrame) {
	if p.begun && !f.Teleported {
		drawn := exact.Sub(f.Mesh, p.last)
		moved := exact.Sub(f.End, f.Start)
		decay := exact.Sub(f.OffsetAfter, f.OffsetBefore)
		p.Pop.Add(exact.Len(exact.Sub(exact.Sub(drawn, moved), decay)))
	}
	p.last, p.begun = f.Mesh, true
}

// Lost tells that the character is not there for now (despawned, another
// connection): the next frame starts afresh.
func (p *OwnerProbe) Lost() { p.begun = false }

// lagSpeed is the speed from which an onlooker's lag is measured, cm/s.
const lagSpeed = 50

// ProxyFrame is what an onlooker showed of a character in one frame, in world
// axes, cm and cm/s.
type ProxyFrame struct {
	// Now is the end of the frame on the server's clock, Dt its span.
	Now, Dt components.Ticks
	// Mesh is where the character is drawn.
	Mesh components.Vec3
	// Velocity of the character as the onlooker has it.
	Velocity components.Vec3
	// Carried is what moved the character in this frame besides its velocity,
	// cm: a moving base under it.
	Carried components.Vec3
	// Teleported: the step to here is meant to be seen, and no lag is measured.
	Teleported bool
}

// ProxyProbe measures a simulated proxy on an onlooker: proxy_lag_ms,
// proxy_pop_cm and proxy_end_error_cm.
type ProxyProbe struct {
	// Lag is now minus the time within the last second at which the server's
	// path was nearest to the mesh, ms, counted where the path went faster than
	// 50 cm/s at that time.
	Lag Histogram
	// Pop is the drawn step minus velocity times frame time, cm.
	Pop Histogram
	// EndError is the mesh against the replicated place after the standstill,
	// cm; Ended that it was taken.
	EndError float64
	Ended    bool

	last  components.Vec3
	begun bool
}

// Frame takes one drawn frame; path is the server's of the same character, up
// to f.Now at least.
func (p *ProxyProbe) Frame(path *Path, f *ProxyFrame) {
	if !f.Teleported {
		if ago, _, speed, ok := path.Nearest(f.Now, f.Mesh); ok && speed > lagSpeed {
			p.Lag.Add(float64(ago * 1000))
		}
		if p.begun {
			told := exact.AddScaled(f.Carried, f.Velocity, f.Dt.Seconds())
			p.Pop.Add(exact.Len(exact.Sub(exact.Sub(f.Mesh, p.last), told)))
		}
	}
	p.last, p.begun = f.Mesh, true
}

// Lost tells that the character is not there for now; the next frame starts
// afresh.
func (p *ProxyProbe) Lost() { p.begun = false }

// End takes the mesh and the replicated place, both in world axes, after the
// standstill.
func (p *ProxyProbe) End(mesh, replicated components.Vec3) {
	p.EndError, p.Ended = exact.Dist(mesh, replicated), true
}

// VerdictProbe measures verdict_error_cm on the server: a
// systems.VerdictObserver.
type VerdictProbe struct {
	// Error is the owner's claim against the server's place, cm.
	Error Histogram
	// The worst claim so far.
	WorstID    components.NetID
	WorstStamp components.Stamp
}

// Verdict takes one comparison.
func (p *VerdictProbe) Verdict(id components.NetID, stamp components.Stamp, server *components.MovementState, claim components.Vec3) {
	d := exact.Dist(server.Location, claim)
	if !(d <= p.Error.Max()) {
		p.WorstID, p.WorstStamp = id, stamp
	}
	p.Error.Add(d)
}
