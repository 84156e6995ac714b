package components

import (
	"errors"
	"fmt"
	"math"
	"reflect"
)

func floor(x float64) float64 { return math.Floor(x) }

// ProfileID names a kind of character (hero, mount, crate) in the profile
// table; the numbers go on the wire.
type ProfileID uint16

// ProfileRef names a profile and the revision of it that a move was made
// under. As a component it is the profile a character has now. A server-side
// change of a profile is a new revision: moves that name the old one are still
// verified with it until its deadline, so a speed buff corrects nobody.
type ProfileRef struct {
	ID       ProfileID
	Revision uint16
}

// RotationMode says how a character's yaw follows its input.
type RotationMode uint8

// The rotation modes.
const (
	// RotateToMovement turns the yaw towards the acceleration at RotationRate.
	RotateToMovement RotationMode = iota
	// RotateToControl turns the yaw towards the control rotation at RotationRate.
	RotateToControl
	// RotateWithControl is the control rotation's yaw itself.
	RotateWithControl
)

// MovementProfile holds every constant of a character's movement. Units are
// centimetres, seconds and degrees. DefaultProfile has the reference's values;
// the letters of their sources are in MOVEMENT.md's table: official (A), two
// public ports agree (B), general knowledge (C). A zero field means zero, so
// start from DefaultProfile.
type MovementProfile struct {
	// Capsule, standing and crouched; half heights include the caps.
	CapsuleRadius, CapsuleHalfHeight, CrouchedHalfHeight float64

	// Top speeds by mode, cm/s.
	MaxWalkSpeed, MaxWalkSpeedCrouched, MaxSwimSpeed, MaxFlySpeed, MaxCustomSpeed float64
	// MinAnalogWalkSpeed is the least top speed under a slightly tilted stick, cm/s.
	MinAnalogWalkSpeed float64
	// MaxAcceleration, cm/s².
	MaxAcceleration float64
	// GroundFriction turns the velocity towards the input, 1/s; braking uses
	// it times BrakingFrictionFactor, or BrakingFriction where
	// UseSeparateBrakingFriction is set.
	GroundFriction, BrakingFrictionFactor, BrakingFriction float64
	UseSeparateBrakingFriction                             bool
	// Constant deceleration without input, cm/s².
	BrakingDecelerationWalking, BrakingDecelerationFalling float64
	BrakingDecelerationSwimming, BrakingDecelerationFlying float64
	// BrakingSubStepTime, s, kept within 1/75..1/20.
	BrakingSubStepTime float64

	// MaxStepHeight, cm. WalkableFloorZ is the least z of a walkable normal.
	MaxStepHeight, WalkableFloorZ float64
	// PerchRadiusThreshold, cm: 0 perches anywhere; PerchAdditionalHeight, cm.
	PerchRadiusThreshold, PerchAdditionalHeight float64
	// LedgeCheckThreshold, cm.
	LedgeCheckThreshold float64
	// CanWalkOffLedges, and the same crouched.
	CanWalkOffLedges, CanWalkOffLedgesWhenCrouching bool
	// MaintainHorizontalGroundVelocity keeps the horizontal speed on slopes.
	MaintainHorizontalGroundVelocity bool
	// CatchAir leaves the floor where it falls away faster than gravity.
	CatchAir bool

	// JumpZVelocity, cm/s; JumpOffJumpZFactor scales it for a jump off a base
	// that pushes the character away.
	JumpZVelocity, JumpOffJumpZFactor float64
	// JumpMaxHoldTime, s; JumpMaxCount jumps until the ground.
	JumpMaxHoldTime float64
	JumpMaxCount    uint8
	// ApplyGravityWhileJumping, also during the hold's last step.
	ApplyGravityWhileJumping bool
	// GravityZ, cm/s² (negative is down), times GravityScale. TerminalVelocity, cm/s.
	GravityZ, GravityScale, TerminalVelocity float64
	// AirControl is the share of the acceleration in the air, times the boost
	// multiplier under the threshold (cm/s), 1 at most.
	AirControl, AirControlBoostMultiplier, AirControlBoostVelocityThreshold float64
	// FallingLateralFriction, 1/s.
	FallingLateralFriction float64
	// FluidFriction, 1/s; Buoyancy 1 floats.
	FluidFriction, Buoyancy float64
	// Out of water: jump pitch in degrees, speed in cm/s, step in cm.
	JumpOutOfWaterPitch, OutOfWaterZ, MaxOutOfWaterStepHeight float64

	// RotationRate, degrees/s.
	RotationRate float64
	Rotation     RotationMode
	// ImpartBaseVelocity adds the base's velocity on leaving it.
	ImpartBaseVelocity bool
	// CanCrouch, CanFly as a mode the owner may ask for.
	CanCrouch bool

	// MaxSimulationTimeStep, s, and MaxSimulationIterations per move.
	MaxSimulationTimeStep   float64
	MaxSimulationIterations int32
	// MaxDepenetration out of geometry and out of characters, cm a step.
	MaxDepenetrationGeometry, MaxDepenetrationPawn float64
	Mass                                           float64
}

// DefaultProfile is the reference's character.
func DefaultProfile() MovementProfile {
	return MovementProfile{
		CapsuleRadius: 34, CapsuleHalfHeight: 88, CrouchedHalfHeight: 40,
		MaxWalkSpeed: 600, MaxWalkSpeedCrouched: 300, MaxSwimSpeed: 300, MaxFlySpeed: 600, MaxCustomSpeed: 600,
		MaxAcceleration: 2048, GroundFriction: 8, BrakingFrictionFactor: 2,
		BrakingDecelerationWalking: 2048, BrakingSubStepTime: 1.0 / 33,
		MaxStepHeight: 45, WalkableFloorZ: 0.71,
		PerchAdditionalHeight: 40, LedgeCheckThreshold: 4,
		CanWalkOffLedges: true, MaintainHorizontalGroundVelocity: true,
		JumpZVelocity: 420, JumpOffJumpZFactor: 0.5, JumpMaxCount: 1, ApplyGravityWhileJumping: true,
		GravityZ: -980, GravityScale: 1, TerminalVelocity: 4000,
		AirControl: 0.05, AirControlBoostMultiplier: 2, AirControlBoostVelocityThreshold: 25,
		FluidFriction: 0.3, Buoyancy: 1,
		JumpOutOfWaterPitch: 11.25, OutOfWaterZ: 420, MaxOutOfWaterStepHeight: 40,
		RotationRate: 360, ImpartBaseVelocity: true, CanCrouch: true,
		MaxSimulationTimeStep: 0.05, MaxSimulationIterations: 8,
		MaxDepenetrationGeometry: 500, MaxDepenetrationPawn: 100, Mass: 100,
	}
}

// MaxSpeed is the top speed in a mode, cm/s.
func (p *MovementProfile) MaxSpeed(m MovementMode, crouched bool) float64 {
	switch m {
	case ModeWalking:
		if crouched {
			return p.MaxWalkSpeedCrouched
		}
		return p.MaxWalkSpeed
	case ModeFalling:
		return p.MaxWalkSpeed
	case ModeSwimming:
		return p.MaxSwimSpeed
	case ModeFlying:
		return p.MaxFlySpeed
	case ModeNone:
		return 0
	}
	return p.MaxCustomSpeed
}

// ErrProfile is wrapped by every complaint about a profile.
var ErrProfile = errors.New("movement profile")

// Validate reports the first field that no step could work with. It reflects:
// not for every move.
func (p *MovementProfile) Validate() error {
	check := []struct {
		name      string
		v, lo, hi float64
		loIsOpen  bool
	}{
		{"CapsuleRadius", p.CapsuleRadius, 0, 1e4, true},
		{"CapsuleHalfHeight", p.CapsuleHalfHeight, p.CapsuleRadius, 1e4, false},
		{"CrouchedHalfHeight", p.CrouchedHalfHeight, p.CapsuleRadius, p.CapsuleHalfHeight, false},
		{"MaxWalkSpeed", p.MaxWalkSpeed, 0, 1e6, false},
		{"MaxWalkSpeedCrouched", p.MaxWalkSpeedCrouched, 0, 1e6, false},
		{"MaxSwimSpeed", p.MaxSwimSpeed, 0, 1e6, false},
		{"MaxFlySpeed", p.MaxFlySpeed, 0, 1e6, false},
		{"MaxCustomSpeed", p.MaxCustomSpeed, 0, 1e6, false},
		{"MaxAcceleration", p.MaxAcceleration, 0, 1e6, false},
		{"GroundFriction", p.GroundFriction, 0, 1e4, false},
		{"BrakingFrictionFactor", p.BrakingFrictionFactor, 0, 1e4, false},
		{"MaxStepHeight", p.MaxStepHeight, 0, 1e4, false},
		{"WalkableFloorZ", p.WalkableFloorZ, 0, 1, true},
		{"JumpZVelocity", p.JumpZVelocity, 0, 1e6, false},
		{"JumpMaxHoldTime", p.JumpMaxHoldTime, 0, 3600, false},
		{"GravityZ", p.GravityZ, -1e6, 1e6, false},
		{"GravityScale", p.GravityScale, -1e3, 1e3, false},
		{"TerminalVelocity", p.TerminalVelocity, 0, 1e6, false},
		{"AirControl", p.AirControl, 0, 1e3, false},
		{"RotationRate", p.RotationRate, -1e6, 1e6, false},
		{"MaxSimulationTimeStep", p.MaxSimulationTimeStep, 0.0066, 0.5, false},
		{"MaxSimulationIterations", float64(p.MaxSimulationIterations), 1, 25, false},
		{"BrakingSubStepTime", p.BrakingSubStepTime, 0, 1, true},
		{"FluidFriction", p.FluidFriction, 0, 1e4, false},
		{"Mass", p.Mass, 0, 1e9, true},
	}
	for _, c := range check {
		if !(c.v >= c.lo && c.v <= c.hi) || (c.loIsOpen && c.v == c.lo) {
			return fmt.Errorf("%w: %s is %v, must lie within %v..%v", ErrProfile, c.name, c.v, c.lo, c.hi)
		}
	}
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.CanFloat() && f.Float()-f.Float() != 0 {
			return fmt.Errorf("%w: %s is %v, must be finite", ErrProfile, v.Type().Field(i).Name, f.Float())
		}
	}
	return nil
}
