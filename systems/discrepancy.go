package systems

import "github.com/gaitnet/gait/components"

// discrepancy follows how far a client's movement clock has run ahead of the
// server's. It runs inside the stamp check, for valid stamps alone, from raw
// differences of stamps, before a span is taken from them.
//
// Time is the balance: it grows by what the client's clock gained, shrinks by
// the drift allowance, and is held above MinTimeMargin so that a pause cannot
// be saved up. Passing MaxTimeMargin is a detection. Under resolution the
// client's spans are then replaced by the server's, less what is paid back, so
// that what a fast clock gains stays below the margin and one tick.
func (s *ServerVerify) discrepancy(v *verified, stamp, span components.Ticks, reset bool) {
	d, now := &v.pred.Discrepancy, s.clock.Now
	if !s.set.DiscrepancyDetection {
		d.Resolving = false
		return
	}
	if !d.Started && d.LastServerTime != 0 {
		// The first move of a player who came back: there is no stamp before it,
		// and it takes the span that it names.
		d.LastClientStamp = stamp - span
	} else if !d.Started || reset {
		// A reset's difference is left out, as the reference does.
		d.Started = true
		d.LastServerTime, d.LastClientStamp = now, stamp
		return
	}
	d.Started = true
	client := (stamp - d.LastClientStamp).Seconds()
	server := (now - d.LastServerTime).Seconds()
	d.LastServerTime, d.LastClientStamp = now, stamp

	moveError := client - server
	allowance := server * s.set.DriftAllowance
	d.LifetimeRaw += moveError
	d.Lifetime += moveError
	if d.Lifetime > 0 {
		d.Lifetime = max(0, d.Lifetime-allowance)
	}

	if d.Resolving {
		// What is granted stands in for what the client asked.
		granted := min(client, server*(1-s.set.DiscrepancyResolutionRate))
		d.Override = components.TicksFromSeconds(max(granted, 0))
		moveError = granted - server
	}
	d.Time += moveError
	if d.Time > 0 {
		d.Time = max(0, d.Time-allowance)
	}
	d.Time = max(d.Time, s.set.MinTimeMargin)

	switch {
	case d.Resolving && d.Time <= 0:
		d.Resolving = false
		logDiscrepancy(s.debug, logResolutions, "time discrepancy resolved", v.char.ID, d, moveError)
	case !d.Resolving && d.Time > s.set.MaxTimeMargin:
		d.Detections++
		s.stats.Discrepancies++
		logDiscrepancy(s.debug, logDetections, "time discrepancy", v.char.ID, d, moveError)
		if s.OnDiscrepancy != nil {
			s.OnDiscrepancy(v.char.ID, d, moveError)
		}
		if s.set.DiscrepancyResolution {
			d.Resolving = true
			d.Override = 0
			logDiscrepancy(s.debug, logResolutions, "time discrepancy is being resolved", v.char.ID, d, moveError)
		}
	}
}
