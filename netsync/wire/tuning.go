package wire

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

// ProfileRevision is a revision of a profile that was made while the world runs.
type ProfileRevision struct {
	Ref     components.ProfileRef
	Profile components.MovementProfile
}

// ProfileChange puts a character under another profile or revision.
type ProfileChange struct {
	ID  components.NetID
	Ref components.ProfileRef
}

// WriteProfileRevision writes a whole message, at most 420 bytes. A profile
// that is not valid sets bits.ErrRange in w.
func WriteProfileRevision(w *bits.Writer, m *ProfileRevision) {
	beginReliable(w, ReliableProfile)
	writeRef(w, m.Ref)
	writeTuning(w, profileFields(&m.Profile))
	if m.Profile.Rotation > components.RotateWithControl || m.Profile.Validate() != nil {
		w.Refuse()
	}
	w.Align()
}

// ReadProfileRevision reads the body of a ReliableProfile.
func ReadProfileRevision(body []byte, m *ProfileRevision) error {
	r := bits.NewReader(body)
	t := track{r: &r}
	t.at("profile")
	m.Ref = readRef(&r)
	readTuning(&t, profileFields(&m.Profile))
	t.at("rotation")
	t.check(m.Profile.Rotation <= components.RotateWithControl)
	t.at("values")
	t.check(r.Err() == nil && m.Profile.Validate() == nil)
	return finish(&t, ReliableProfile)
}

// WriteProfileChange writes a whole message.
func WriteProfileChange(w *bits.Writer, m *ProfileChange) {
	beginReliable(w, ReliableProfileChange)
	writeID(w, m.ID)
	writeRef(w, m.Ref)
	w.Align()
}

// ReadProfileChange reads the body of a ReliableProfileChange.
func ReadProfileChange(body []byte, m *ProfileChange) error {
	r := bits.NewReader(body)
	t := track{r: &r}
	t.at("id")
	m.ID = readID(&r)
	t.at("profile")
	m.Ref = readRef(&r)
	return finish(&t, ReliableProfileChange)
}

// WriteSettings writes a whole message, at most 360 bytes. What only draws is a
// client's own choice and does not travel: the fields from Smoothing on.
// Settings that are not valid set bits.ErrRange in w.
func WriteSettings(w *bits.Writer, s *components.Settings) {
	beginReliable(w, ReliableSettings)
	writeTuning(w, settingsFields(s))
	if s.Redundancy > components.RedundancyReference || s.Validate() != nil {
		w.Refuse()
	}
	w.Align()
}

// ReadSettings reads the body of a ReliableSettings. What does not travel stays
// in s as it is.
func ReadSettings(body []byte, s *components.Settings) error {
	r := bits.NewReader(body)
	t := track{r: &r}
	readTuning(&t, settingsFields(s))
	t.at("redundancy")
	t.check(s.Redundancy <= components.RedundancyReference)
	t.at("values")
	t.check(r.Err() == nil && s.Validate() == nil)
	return finish(&t, ReliableSettings)
}

// tuning lists the fields of a profile or of settings in the order in which
// they travel: numbers exactly, counts in 32 bits, small ones in 8, switches in
// one. It points into the struct, so that writer and reader cannot differ.
type tuning struct {
	numbers  [48]*float64
	counts   [4]*int32
	small    [4]*uint8
	switches [16]*bool
}

func writeTuning(w *bits.Writer, f tuning) {
	for _, p := range f.numbers {
		if p != nil {
			w.WriteFinite(*p)
		}
	}
	for _, p := range f.counts {
		if p != nil {
			w.WriteBits(uint64(uint32(*p)), 32)
		}
	}
	for _, p := range f.small {
		if p != nil {
			w.WriteBits(uint64(*p), 8)
		}
	}
	for _, p := range f.switches {
		if p != nil {
			w.WriteBool(*p)
		}
	}
}

func readTuning(t *track, f tuning) {
	t.at("numbers")
	for _, p := range f.numbers {
		if p != nil {
			*p = t.r.ReadFinite()
		}
	}
	t.at("counts")
	for _, p := range f.counts {
		if p != nil {
			*p = int32(uint32(t.r.ReadBits(32)))
		}
	}
	for _, p := range f.small {
		if p != nil {
			*p = uint8(t.r.ReadBits(8))
		}
	}
	t.at("switches")
	for _, p := range f.switches {
		if p != nil {
			*p = t.r.ReadBool()
		}
	}
}

func profileFields(p *components.MovementProfile) tuning {
	return tuning{
		numbers: [48]*float64{
			&p.CapsuleRadius, &p.CapsuleHalfHeight, &p.CrouchedHalfHeight,
			&p.MaxWalkSpeed, &p.MaxWalkSpeedCrouched, &p.MaxSwimSpeed, &p.MaxFlySpeed, &p.MaxCustomSpeed,
			&p.MinAnalogWalkSpeed, &p.MaxAcceleration,
			&p.GroundFriction, &p.BrakingFrictionFactor, &p.BrakingFriction,
			&p.BrakingDecelerationWalking, &p.BrakingDecelerationFalling,
			&p.BrakingDecelerationSwimming, &p.BrakingDecelerationFlying, &p.BrakingSubStepTime,
			&p.MaxStepHeight, &p.WalkableFloorZ, &p.PerchRadiusThreshold, &p.PerchAdditionalHeight, &p.LedgeCheckThreshold,
			&p.JumpZVelocity, &p.JumpOffJumpZFactor, &p.JumpMaxHoldTime,
			&p.GravityZ, &p.GravityScale, &p.TerminalVelocity,
			&p.AirControl, &p.AirControlBoostMultiplier, &p.AirControlBoostVelocityThreshold, &p.FallingLateralFriction,
			&p.FluidFriction, &p.Buoyancy, &p.JumpOutOfWaterPitch, &p.OutOfWaterZ, &p.MaxOutOfWaterStepHeight,
			&p.RotationRate, &p.MaxSimulationTimeStep, &p.MaxDepenetrationGeometry, &p.MaxDepenetrationPawn, &p.Mass,
		},
		counts: [4]*int32{&p.MaxSimulationIterations},
		small:  [4]*uint8{&p.JumpMaxCount, (*uint8)(&p.Rotation)},
		switches: [16]*bool{
			&p.UseSeparateBrakingFriction, &p.CanWalkOffLedges, &p.CanWalkOffLedgesWhenCrouching,
			&p.MaintainHorizontalGroundVelocity, &p.CatchAir, &p.ApplyGravityWhileJumping, &p.ImpartBaseVelocity, &p.CanCrouch,
		},
	}
}

func settingsFields(s *components.Settings) tuning {
	return tuning{
		numbers: [48]*float64{
			&s.MaxMoveDeltaTime, &s.ServerMaxMoveDeltaTimeScalar,
			&s.MaxPositionErrorSquared, &s.ClientErrorUpdateRateLimit,
			&s.MaxFallingCorrectionLeash, &s.MaxFallingCorrectionBuffer, &s.ClientAuthorityThresholdOnBaseChange,
			&s.MinTimeBetweenAcks, &s.MinTimeBetweenAdjustments, &s.MinTimeBetweenLargeAdjustments, &s.LargeCorrectionDistance,
			&s.SendDelta, &s.SendDeltaThrottled, &s.SendDeltaStationary,
			&s.CombineAttachedLocation, &s.CombineAttachedRotation,
			&s.AccelMagThreshold, &s.AccelDotThreshold, &s.AccelDotThresholdCombine,
			&s.MaxClientUpdateInterval, &s.MaxForcedUpdateDuration, &s.ForcedUpdateHitchThreshold, &s.ForcedUpdateCooldown,
			&s.MaxTimeMargin, &s.MinTimeMargin, &s.DiscrepancyResolutionRate, &s.DriftAllowance,
			&s.ObstacleHistory, &s.ObstacleAhead, &s.ProfileDeadline,
			&s.NetUpdateFrequency, &s.MinNetUpdateFrequency,
		},
		counts: [4]*int32{&s.ThrottleAtNetSpeed, &s.ThrottleOverPlayerCount, &s.MoveBudgetBytes},
		small:  [4]*uint8{(*uint8)(&s.Redundancy), &s.LocationDecimals, &s.VelocityDecimals},
		switches: [16]*bool{
			&s.UseAuthoritativeClientPosition, &s.DeferServerCorrectionsWhenFalling,
			&s.EnableMoveCombining, &s.EnableMoveCombiningOnStaticBaseChange,
			&s.DiscrepancyDetection, &s.DiscrepancyResolution, &s.ForceCorrectionsDuringResolution,
			&s.ReplicateAcceleration, &s.UseClientTimestampForTransform, &s.ByteRotation,
		},
	}
}
