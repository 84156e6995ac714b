package wire_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
	"github.com/gaitnet/gait/netsync/wire"
)

// message packs one reliable message and splits it again.
func message(t require.TestingT, want wire.ReliableKind, write func(w *bits.Writer)) []byte {
	var w bits.Writer
	w.Reset(make([]byte, 1024))
	write(&w)
	require.NoError(t, w.Err())
	require.Zero(t, w.Bits()%8)
	kind, body, err := wire.SplitReliable(w.Bytes())
	require.NoError(t, err)
	require.Equal(t, want, kind)
	return body
}

// trips checks that a message comes back, and not with a byte more or less.
func trips[T any](t require.TestingT, kind wire.ReliableKind, v T, write func(*bits.Writer, *T), read func([]byte, *T) error) {
	body := message(t, kind, func(w *bits.Writer) { write(w, &v) })
	var got T
	require.NoError(t, read(body, &got))
	require.Equal(t, v, got)
	require.ErrorIs(t, read(append(slices.Clone(body), 0), &got), wire.ErrMessage)
	require.ErrorIs(t, read(body[:len(body)-1], &got), wire.ErrMessage)
}

func TestReliableMessagesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id, epoch := components.NetID(rapid.Uint32Min(1).Draw(t, "id")), rapid.Uint16().Draw(t, "epoch")
		now := components.Ticks(rapid.Int64().Draw(t, "now"))
		ref := components.ProfileRef{ID: components.ProfileID(rapid.Uint16().Draw(t, "profile")), Revision: rapid.Uint16().Draw(t, "revision")}
		trips(t, wire.ReliableSpawn, wire.Spawn{Owner: rapid.Bool().Draw(t, "owner"), Spec: components.CharacterSpec{
			Character: components.Character{ID: id, Scene: components.SceneID(rapid.Uint16().Draw(t, "scene")), Kind: rapid.Uint16().Draw(t, "kind")},
			Profile:   ref, Possession: components.Possession{Player: components.PlayerID(rapid.Uint64().Draw(t, "player")), Epoch: epoch},
			State: anyState(t), ServerTime: now, Teleports: rapid.Uint8().Draw(t, "teleports"),
		}}, wire.WriteSpawn, wire.ReadSpawn)
		trips(t, wire.ReliableDespawn, wire.Despawn{ID: id, Reason: wire.DespawnReason(rapid.IntRange(0, 3).Draw(t, "reason"))}, wire.WriteDespawn, wire.ReadDespawn)
		trips(t, wire.ReliablePossess, wire.Possess{ID: id, Epoch: epoch, ServerTime: now, State: anyState(t)}, wire.WritePossess, wire.ReadPossess)
		trips(t, wire.ReliablePossessAck, wire.PossessAck{ID: id, Epoch: epoch}, wire.WritePossessAck, wire.ReadPossessAck)
		trips(t, wire.ReliableUnpossess, wire.Unpossess{ID: id, Epoch: epoch}, wire.WriteUnpossess, wire.ReadUnpossess)
		trips(t, wire.ReliableProfileChange, wire.ProfileChange{ID: id, Ref: ref}, wire.WriteProfileChange, wire.ReadProfileChange)
		trips(t, wire.ReliableServerInfo, wire.ServerInfo{Players: int32(rapid.IntRange(0, 1<<24-1).Draw(t, "players"))}, wire.WriteServerInfo, wire.ReadServerInfo)
		trips(t, wire.ReliableKeyframe, wire.Keyframe{ID: id, Time: now, Pose: components.Pose{Location: vector(1e9).Draw(t, "pose"), Yaw: finite(180).Draw(t, "yaw")}}, wire.WriteKeyframe, wire.ReadKeyframe)
	})
}

// shake changes every number and switch of a struct by a little, so that a
// field that does not travel shows.
func shake(v any) {
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		switch f := s.Field(i); f.Kind() {
		case reflect.Float64:
			f.SetFloat(f.Float()*1.0009765625 + 1.0/(1<<20))
		case reflect.Bool:
			f.SetBool(!f.Bool())
		case reflect.Int32:
			f.SetInt(f.Int() + 1)
		case reflect.Uint8:
			f.SetUint(f.Uint() ^ 1)
		default:
			panic("a field of another kind: " + s.Type().Field(i).Name)
		}
	}
}

func TestEveryFieldOfAProfileTravels(t *testing.T) {
	m := wire.ProfileRevision{Ref: components.ProfileRef{ID: 3, Revision: 9}, Profile: components.DefaultProfile()}
	shake(&m.Profile)
	m.Profile.WalkableFloorZ = 0.7
	require.NoError(t, m.Profile.Validate())
	trips(t, wire.ReliableProfile, m, wire.WriteProfileRevision, wire.ReadProfileRevision)
}

func TestEveryFieldOfTheSettingsTravelsUnlessItOnlyDraws(t *testing.T) {
	sent := components.DefaultSettings()
	shake(&sent)
	sent.LocationDecimals, sent.DiscrepancyResolutionRate = 1, 0.5
	require.NoError(t, sent.Validate())
	body := message(t, wire.ReliableSettings, func(w *bits.Writer) { wire.WriteSettings(w, &sent) })
	have := components.DefaultSettings()
	own := have
	require.NoError(t, wire.ReadSettings(body, &have))
	got, want, kept := reflect.ValueOf(have), reflect.ValueOf(sent), reflect.ValueOf(own)
	draws := false
	for i := range got.NumField() {
		name := got.Type().Field(i).Name
		if draws = draws || name == "Smoothing"; draws {
			require.Equal(t, kept.Field(i).Interface(), got.Field(i).Interface(), name)
		} else {
			require.Equal(t, want.Field(i).Interface(), got.Field(i).Interface(), name)
		}
	}
	require.True(t, draws)
	require.ErrorIs(t, wire.ReadSettings(append(body, 0), &have), wire.ErrMessage)
}

func TestReliableMessagesOfNonsenseAreNotSent(t *testing.T) {
	profile := wire.ProfileRevision{Ref: components.ProfileRef{Revision: 2}, Profile: components.DefaultProfile()}
	for name, write := range map[string]func(w *bits.Writer){
		"despawn of nobody": func(w *bits.Writer) { wire.WriteDespawn(w, &wire.Despawn{}) },
		"unknown reason":    func(w *bits.Writer) { wire.WriteDespawn(w, &wire.Despawn{ID: 1, Reason: 4}) },
		"spawn without state": func(w *bits.Writer) {
			wire.WriteSpawn(w, &wire.Spawn{Spec: components.CharacterSpec{Character: components.Character{ID: 1}}})
		},
		"possess without state": func(w *bits.Writer) { wire.WritePossess(w, &wire.Possess{ID: 1}) },
		"negative players":      func(w *bits.Writer) { wire.WriteServerInfo(w, &wire.ServerInfo{Players: -1}) },
		"pose not finite": func(w *bits.Writer) {
			wire.WriteKeyframe(w, &wire.Keyframe{ID: 1, Pose: components.Pose{Yaw: math.NaN()}})
		},
		"pose too far": func(w *bits.Writer) {
			wire.WriteKeyframe(w, &wire.Keyframe{ID: 1, Pose: components.Pose{Location: components.Vec3{1e11}}})
		},
		"profile without mass": func(w *bits.Writer) {
			m := profile
			m.Profile.Mass = 0
			wire.WriteProfileRevision(w, &m)
		},
		"profile that turns oddly": func(w *bits.Writer) {
			m := profile
			m.Profile.Rotation = 3
			wire.WriteProfileRevision(w, &m)
		},
		"profile not finite": func(w *bits.Writer) {
			m := profile
			m.Profile.Buoyancy = math.Inf(1)
			wire.WriteProfileRevision(w, &m)
		},
		"settings of no frequency": func(w *bits.Writer) {
			s := components.DefaultSettings()
			s.NetUpdateFrequency = 0
			wire.WriteSettings(w, &s)
		},
		"settings of no redundancy": func(w *bits.Writer) {
			s := components.DefaultSettings()
			s.Redundancy = 2
			wire.WriteSettings(w, &s)
		},
	} {
		var w bits.Writer
		w.Reset(make([]byte, 1024))
		write(&w)
		require.ErrorIs(t, w.Err(), bits.ErrRange, name)
	}
}

func TestUnknownKindsAreRefused(t *testing.T) {
	for _, msg := range [][]byte{nil, {0}, {12, 1}, {255}} {
		_, _, err := wire.SplitReliable(msg)
		require.Equal(t, &wire.FieldError{Message: "reliable", Field: "kind"}, err)
	}
	for _, c := range []struct {
		payload []byte
		field   string
	}{{[]byte{0x05}, "kind"}, {[]byte{0x0f}, "kind"}, {[]byte{0x10}, "padding"}, {[]byte{0, 0}, "padding"}} {
		r := bits.NewReader(c.payload)
		_, err := wire.ReadKind(&r)
		require.Equal(t, &wire.FieldError{Message: "payload", Field: c.field}, err)
	}
	var empty bits.Reader
	kind, err := wire.ReadKind(&empty)
	require.NoError(t, err)
	require.Equal(t, wire.KindEnd, kind)
}

// What lies before a bad message in a payload stays good.
func TestBadMessageEndsThePayloadOnlyFromThere(t *testing.T) {
	var w bits.Writer
	w.Reset(make([]byte, 200))
	good := components.MoveResponse{Stamp: 77, Epoch: 2, AckGood: true}
	wire.WriteResponse(&w, 5, &good)
	w.WriteBits(uint64(wire.KindAnswer), 4)
	w.WriteBits(0, 60) // the rest of an answer that names nobody
	r := bits.NewReader(w.Bytes())
	_, err := wire.ReadKind(&r)
	require.NoError(t, err)
	var m components.MoveResponse
	id, err := wire.ReadResponse(&r, &m)
	require.NoError(t, err)
	require.Equal(t, components.NetID(5), id)
	require.Equal(t, good, m)
	_, err = wire.ReadKind(&r)
	require.NoError(t, err)
	_, err = wire.ReadResponse(&r, &m)
	var field *wire.FieldError
	require.True(t, errors.As(err, &field))
	require.Equal(t, "wire: malformed message: answer: id", field.Error())
	_, err = wire.ReadKind(&r)
	require.Error(t, err)
}
