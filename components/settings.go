package components

import (
	"errors"
	"fmt"
)

// Redundancy says how many unacknowledged moves a container repeats.
type Redundancy uint8

const (
	// RedundancyFull repeats every move that the server is not known to have,
	// coded against each other, within MoveBudgetBytes.
	RedundancyFull Redundancy = iota
	// RedundancyReference repeats one important old move, as the reference does.
	RedundancyReference
)

// Settings are the network constants of a world, a resource. Distances in
// centimetres, times in seconds. DefaultSettings has the reference's values
// unless a field says otherwise.
type Settings struct {
	// MaxMoveDeltaTime is the longest move the owner makes; the server takes
	// up to it times ServerMaxMoveDeltaTimeScalar.
	MaxMoveDeltaTime, ServerMaxMoveDeltaTimeScalar float64

	// MaxPositionErrorSquared, cm²: a claim further off is corrected.
	MaxPositionErrorSquared float64
	// ClientErrorUpdateRateLimit is the least time between two comparisons.
	ClientErrorUpdateRateLimit float64
	// UseAuthoritativeClientPosition adopts the claim when it is good.
	UseAuthoritativeClientPosition bool
	// DeferServerCorrectionsWhenFalling, with the leash below.
	DeferServerCorrectionsWhenFalling                     bool
	MaxFallingCorrectionLeash, MaxFallingCorrectionBuffer float64
	// ClientAuthorityThresholdOnBaseChange is the trust window's distance; 0: off.
	ClientAuthorityThresholdOnBaseChange float64

	// Response throttles, and the distance from which the shorter one holds.
	MinTimeBetweenAcks, MinTimeBetweenAdjustments, MinTimeBetweenLargeAdjustments float64
	LargeCorrectionDistance                                                       float64

	// Send throttles of the owner.
	SendDelta, SendDeltaThrottled, SendDeltaStationary float64
	ThrottleAtNetSpeed, ThrottleOverPlayerCount        int32
	// EnableMoveCombining, EnableMoveCombiningOnStaticBaseChange, and the
	// tolerance in cm and degrees within which a rider still combines.
	EnableMoveCombining, EnableMoveCombiningOnStaticBaseChange bool
	CombineAttachedLocation, CombineAttachedRotation           float64
	AccelMagThreshold, AccelDotThreshold                       float64
	AccelDotThresholdCombine                                   float64
	Redundancy                                                 Redundancy
	// MoveBudgetBytes bounds a container's redundant moves: the newest that
	// fit are kept.
	MoveBudgetBytes int32

	// Silent clients: forced updates after MaxClientUpdateInterval without a
	// move, at most MaxForcedUpdateDuration, none for HitchCooldown after a
	// server frame over HitchThreshold.
	MaxClientUpdateInterval, MaxForcedUpdateDuration float64
	ForcedUpdateHitchThreshold, ForcedUpdateCooldown float64

	// Time discrepancy.
	DiscrepancyDetection, DiscrepancyResolution bool
	ForceCorrectionsDuringResolution            bool
	MaxTimeMargin, MinTimeMargin                float64
	DiscrepancyResolutionRate, DriftAllowance   float64

	// ObstacleHistory is how far back a move may ask for moving bases;
	// ObstacleAhead how far ahead of the server's tick.
	ObstacleHistory, ObstacleAhead float64
	// ProfileDeadline is how long a replaced profile revision is still verified.
	ProfileDeadline float64

	// Snapshots.
	NetUpdateFrequency, MinNetUpdateFrequency float64
	ReplicateAcceleration                     bool
	UseClientTimestampForTransform            bool
	// LocationDecimals and VelocityDecimals (0, 1, 2); ByteRotation rounds
	// angles to 1/256 of a turn instead of 1/65,536.
	LocationDecimals, VelocityDecimals uint8
	ByteRotation                       bool

	// Smoothing of proxies and of the corrected owner.
	Smoothing                                          SmoothingMode
	MaxSmoothDistance, NoSmoothDistance                float64
	SmoothLocationTime, SmoothRotationTime             float64
	ListenSmoothLocationTime, ListenSmoothRotationTime float64
	MaxLinearSmoothDelta                               float64
	EnableListenServerSmoothing                        bool
	SkipProxyPredictionOnNetUpdate                     bool
	// BufferedMinDelay and BufferedMaxDelay bound the adaptive delay of
	// buffered interpolation, s.
	BufferedMinDelay, BufferedMaxDelay float64
}

// DefaultSettings are the reference's defaults, with gait's anti-cheat profile
// for the time discrepancy left off (see AntiCheat).
func DefaultSettings() Settings {
	return Settings{
		MaxMoveDeltaTime: 0.125, ServerMaxMoveDeltaTimeScalar: 1.75,
		MaxPositionErrorSquared: 3, MaxFallingCorrectionBuffer: 10,
		MinTimeBetweenAcks: 0.10, MinTimeBetweenAdjustments: 0.10, MinTimeBetweenLargeAdjustments: 0.05,
		LargeCorrectionDistance: 15,
		SendDelta:               0.0166, SendDeltaThrottled: 0.0222, SendDeltaStationary: 0.0166,
		ThrottleAtNetSpeed: 10000, ThrottleOverPlayerCount: 10,
		EnableMoveCombining: true, EnableMoveCombiningOnStaticBaseChange: true,
		CombineAttachedLocation: 0.01, CombineAttachedRotation: 0.01,
		AccelMagThreshold: 1, AccelDotThreshold: 0.9, AccelDotThresholdCombine: 0.996,
		Redundancy: RedundancyFull, MoveBudgetBytes: 160,
		MaxClientUpdateInterval: 0.25, MaxForcedUpdateDuration: 1,
		ForcedUpdateHitchThreshold: 0.15, ForcedUpdateCooldown: 0.1,
		MaxTimeMargin: 0.25, MinTimeMargin: -0.25, DiscrepancyResolutionRate: 1,
		ObstacleHistory: 0.3, ObstacleAhead: 0.05, ProfileDeadline: 2,
		NetUpdateFrequency: 20, MinNetUpdateFrequency: 2, UseClientTimestampForTransform: true,
		LocationDecimals: 2, VelocityDecimals: 0,
		MaxSmoothDistance: 256, NoSmoothDistance: 384,
		SmoothLocationTime: 0.1, SmoothRotationTime: 0.05,
		ListenSmoothLocationTime: 0.04, ListenSmoothRotationTime: 0.033,
		MaxLinearSmoothDelta: 0.5, EnableListenServerSmoothing: true,
		SkipProxyPredictionOnNetUpdate: true,
		BufferedMinDelay:               0.05, BufferedMaxDelay: 0.5,
	}
}

// AntiCheat turns on gait's named profile against fast clocks: margins of 1.0
// and -3.0 s and a drift allowance of 0.1 %. Honest clocks that drift by 200
// ppm, and bursts after an outage of 2 s, are never flagged; a cheat gains at
// most (margin + one tick) x speed + 0.1 % of the way.
func (s *Settings) AntiCheat() {
	s.DiscrepancyDetection, s.DiscrepancyResolution = true, true
	s.MaxTimeMargin, s.MinTimeMargin = 1, -3
	s.DriftAllowance = 0.001
}

// MaxMove is MaxMoveDeltaTime in ticks.
func (s *Settings) MaxMove() Ticks { return TicksFromSeconds(s.MaxMoveDeltaTime) }

// MaxServerMove is the longest move that the server executes, in ticks.
func (s *Settings) MaxServerMove() Ticks {
	return TicksFromSeconds(float64(s.MaxMoveDeltaTime * s.ServerMaxMoveDeltaTimeScalar))
}

// ErrSettings is wrapped by every complaint about settings.
var ErrSettings = errors.New("network settings")

// Validate reports the first field that nothing could work with.
func (s *Settings) Validate() error {
	check := []struct {
		name      string
		v, lo, hi float64
	}{
		{"MaxMoveDeltaTime", s.MaxMoveDeltaTime, 0.001, 1},
		{"ServerMaxMoveDeltaTimeScalar", s.ServerMaxMoveDeltaTimeScalar, 1, 10},
		{"MaxPositionErrorSquared", s.MaxPositionErrorSquared, 0, 1e12},
		{"ClientErrorUpdateRateLimit", s.ClientErrorUpdateRateLimit, 0, 10},
		{"MaxFallingCorrectionLeash", s.MaxFallingCorrectionLeash, 0, 1e6},
		{"MaxFallingCorrectionBuffer", s.MaxFallingCorrectionBuffer, 0, 1e6},
		{"ClientAuthorityThresholdOnBaseChange", s.ClientAuthorityThresholdOnBaseChange, 0, 1e6},
		{"MinTimeBetweenAcks", s.MinTimeBetweenAcks, 0, 10},
		{"MinTimeBetweenAdjustments", s.MinTimeBetweenAdjustments, 0, 10},
		{"MinTimeBetweenLargeAdjustments", s.MinTimeBetweenLargeAdjustments, 0, 10},
		{"LargeCorrectionDistance", s.LargeCorrectionDistance, 0, 1e6},
		{"SendDelta", s.SendDelta, 0, 1},
		{"SendDeltaThrottled", s.SendDeltaThrottled, 0, 1},
		{"SendDeltaStationary", s.SendDeltaStationary, 0, 1},
		{"CombineAttachedLocation", s.CombineAttachedLocation, 0, 1e6},
		{"CombineAttachedRotation", s.CombineAttachedRotation, 0, 360},
		{"AccelMagThreshold", s.AccelMagThreshold, 0, 1e6},
		{"AccelDotThreshold", s.AccelDotThreshold, -1, 1},
		{"AccelDotThresholdCombine", s.AccelDotThresholdCombine, -1, 1},
		{"Redundancy", float64(s.Redundancy), 0, float64(RedundancyReference)},
		{"MoveBudgetBytes", float64(s.MoveBudgetBytes), 0, 512},
		{"MaxClientUpdateInterval", s.MaxClientUpdateInterval, 0.01, 60},
		{"MaxForcedUpdateDuration", s.MaxForcedUpdateDuration, 0, 60},
		{"ForcedUpdateHitchThreshold", s.ForcedUpdateHitchThreshold, 0, 60},
		{"ForcedUpdateCooldown", s.ForcedUpdateCooldown, 0, 60},
		{"MaxTimeMargin", s.MaxTimeMargin, 0, 600},
		{"MinTimeMargin", s.MinTimeMargin, -600, 0},
		{"DiscrepancyResolutionRate", s.DiscrepancyResolutionRate, 0, 1},
		{"DriftAllowance", s.DriftAllowance, 0, 1},
		{"ObstacleHistory", s.ObstacleHistory, 0, 10},
		{"ObstacleAhead", s.ObstacleAhead, 0, 10},
		{"ProfileDeadline", s.ProfileDeadline, 0, 3600},
		{"NetUpdateFrequency", s.NetUpdateFrequency, 0.1, 1000},
		{"MinNetUpdateFrequency", s.MinNetUpdateFrequency, 0, 1000},
		{"LocationDecimals", float64(s.LocationDecimals), 0, 2},
		{"VelocityDecimals", float64(s.VelocityDecimals), 0, 2},
		{"Smoothing", float64(s.Smoothing), 0, float64(SmoothBuffered)},
		{"MaxSmoothDistance", s.MaxSmoothDistance, 0, 1e9},
		{"NoSmoothDistance", s.NoSmoothDistance, 0, 1e9},
		{"SmoothLocationTime", s.SmoothLocationTime, 0, 10},
		{"SmoothRotationTime", s.SmoothRotationTime, 0, 10},
		{"ListenSmoothLocationTime", s.ListenSmoothLocationTime, 0, 10},
		{"ListenSmoothRotationTime", s.ListenSmoothRotationTime, 0, 10},
		{"MaxLinearSmoothDelta", s.MaxLinearSmoothDelta, 0, 10},
		{"BufferedMinDelay", s.BufferedMinDelay, 0, 10},
		{"BufferedMaxDelay", s.BufferedMaxDelay, s.BufferedMinDelay, 10},
	}
	for _, c := range check {
		if !(c.v >= c.lo && c.v <= c.hi) {
			return fmt.Errorf("%w: %s is %v, must lie within %v..%v", ErrSettings, c.name, c.v, c.lo, c.hi)
		}
	}
	return nil
}
