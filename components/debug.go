package components

// Debug are switches for development, a resource. They may change while the
// world runs; a world without the resource, and a build with the tag
// gait_release, pays nothing for them.
type Debug struct {
	// ForceClientAdjustmentPercent of verdicts become corrections (0..100).
	ForceClientAdjustmentPercent float64
	// MoveLossPercent of the owner's containers are not sent (0..100); every
	// loss drops containers for MoveLossDuration seconds.
	MoveLossPercent, MoveLossDuration float64
	// ShowCorrections records each correction in the CorrectionLog; a view draws
	// it for CorrectionLifetime seconds (CorrectionLog.Live).
	ShowCorrections    bool
	CorrectionLifetime float64
	// ShowSimulatedCorrections records each step that a snapshot makes an
	// onlooker's capsule take in the SimulatedCorrectionLog: from where it had
	// been carried on to (Wrong), to where the server has it (Right).
	ShowSimulatedCorrections bool
	// TimeDiscrepancy: 1 logs detections, 2 the beginning and end of their
	// resolution as well.
	TimeDiscrepancy int
	// Seed of the switches' own randomness.
	Seed uint64
}

// DefaultDebug has everything off and the reference's lifetime of 4 s.
func DefaultDebug() Debug { return Debug{CorrectionLifetime: 4, Seed: 1} }

// CorrectionRecord is one correction to draw: where the owner was wrong (red)
// and where the server put it (green).
type CorrectionRecord struct {
	Time         Ticks
	Character    NetID
	Stamp        Stamp
	Reason       CorrectionReason
	Wrong, Right Vec3
	WrongMode    MovementMode
	RightMode    MovementMode
}

// CorrectionLog keeps the newest corrections, a resource.
type CorrectionLog struct {
	Records [256]CorrectionRecord
	N, Next int
}

// SimulatedCorrectionLog keeps the newest steps of onlookers' capsules, a
// resource.
type SimulatedCorrectionLog struct{ CorrectionLog }

// Push adds a record; the oldest goes when the log is full.
func (l *CorrectionLog) Push(r CorrectionRecord) {
	l.Records[l.Next] = r
	l.Next = (l.Next + 1) % len(l.Records)
	if l.N < len(l.Records) {
		l.N++
	}
}

// At is the i-th newest record, 0 being the last one.
func (l *CorrectionLog) At(i int) *CorrectionRecord {
	return &l.Records[(l.Next-1-i+2*len(l.Records))%len(l.Records)]
}

// Live is how many of the newest records are to be drawn at a time: those that
// are not older than lifetime seconds (Debug.CorrectionLifetime).
//
//	for i := range log.Live(now, debug.CorrectionLifetime) {
//		draw(log.At(i))
//	}
func (l *CorrectionLog) Live(now Ticks, lifetime float64) int {
	span := TicksFromSeconds(lifetime)
	for i := range l.N {
		if now-l.At(i).Time > span {
			return i
		}
	}
	return l.N
}
