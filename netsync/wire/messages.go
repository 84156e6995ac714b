package wire

import (
	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/bits"
)

// ReliableKind is what a message of the reliable channel is: its first byte.
type ReliableKind uint8

// The kinds. All but PossessAck go from the server to a client. There is no
// message for a teleport: its owner learns of it by a correction, which is
// exact, and onlookers by the count in their snapshots.
const (
	ReliableSpawn         ReliableKind = iota + 1 // WriteSpawn
	ReliableDespawn                               // WriteDespawn
	ReliablePossess                               // WritePossess
	ReliablePossessAck                            // WritePossessAck
	ReliableUnpossess                             // WriteUnpossess
	ReliableProfile                               // WriteProfileRevision
	ReliableProfileChange                         // WriteProfileChange
	ReliableSettings                              // WriteSettings
	ReliableServerInfo                            // WriteServerInfo
	ReliableKeyframe                              // WriteKeyframe
	ReliableTypes                                 // WriteInitialTypes
	reliableKinds
)

var reliableNames = [reliableKinds]string{"", "spawn", "despawn", "possess", "possess ack", "unpossess",
	"profile", "profile change", "settings", "server info", "keyframe", "types"}

// String is a word for the kind.
func (k ReliableKind) String() string {
	if k > 0 && k < reliableKinds {
		return reliableNames[k]
	}
	return "unknown"
}

// SplitReliable takes the kind off a message of the reliable channel. body is
// for the Read function of that kind.
func SplitReliable(msg []byte) (kind ReliableKind, body []byte, err error) {
	if len(msg) == 0 || msg[0] == 0 || ReliableKind(msg[0]) >= reliableKinds {
		return 0, nil, &FieldError{"reliable", "kind"}
	}
	return ReliableKind(msg[0]), msg[1:], nil
}

func beginReliable(w *bits.Writer, k ReliableKind) {
	w.Align()
	w.WriteBits(uint64(k), 8)
}

// finish ends a message: behind it lie only the zero bits of its last byte.
func finish(t *track, k ReliableKind) error {
	t.at("end")
	t.r.Finish()
	return t.err(reliableNames[k])
}

// Spawn makes a character on a client: its owner's copy or a proxy.
type Spawn struct {
	// Owner: the receiver owns it, and predicts once it has acknowledged the
	// possession in Spec.
	Owner bool
	// Spec without Possession.Acked, which does not travel.
	Spec components.CharacterSpec
}

// WriteSpawn writes a whole message, 16 to 230 bytes.
func WriteSpawn(w *bits.Writer, m *Spawn) {
	s := &m.Spec
	beginReliable(w, ReliableSpawn)
	writeID(w, s.ID)
	w.WriteBits(uint64(s.Scene), 16)
	w.WriteBits(uint64(s.Kind), 16)
	w.WriteBool(m.Owner)
	writeRef(w, s.Profile)
	w.WriteBits(uint64(s.Possession.Player), 64)
	writeEpoch(w, s.Possession.Epoch)
	w.WriteBits(uint64(s.ServerTime), 64)
	w.WriteBits(uint64(s.Teleports), 8)
	writeState(w, &s.State)
	w.Align()
}

// ReadSpawn reads the body of a ReliableSpawn.
func ReadSpawn(body []byte, m *Spawn) error {
	r := bits.NewReader(body)
	t := track{r: &r}
	*m = Spawn{}
	s := &m.Spec
	t.at("id")
	s.ID = readID(&r)
	t.at("scene")
	s.Scene = components.SceneID(r.ReadBits(16))
	t.at("kind")
	s.Kind = uint16(r.ReadBits(16))
	t.at("owner")
	m.Owner = r.ReadBool()
	t.at("profile")
	s.Profile = readRef(&r)
	t.at("player")
	s.Possession.Player = components.PlayerID(r.ReadBits(64))
	t.at("epoch")
	s.Possession.Epoch = readEpoch(&r)
	t.at("server time")
	s.ServerTime = components.Ticks(r.ReadBits(64))
	t.at("teleports")
	s.Teleports = uint8(r.ReadBits(8))
	readState(&t, &s.State)
	return finish(&t, ReliableSpawn)
}

// DespawnReason says why a character went.
type DespawnReason uint8

// The reasons.
const (
	DespawnGone       DespawnReason = iota // its entity was removed
	DespawnLeft                            // its player left
	DespawnIrrelevant                      // it is out of this client's sight
	DespawnReplaced                        // it comes back in another role or epoch
	despawnReasons
)

// Despawn removes a character from a client.
type Despawn struct {
	ID     components.NetID
	Reason DespawnReason
}

// WriteDespawn writes a whole message.
func WriteDespawn(w *bits.Writer, m *Despawn) {
	beginReliable(w, ReliableDespawn)
	writeID(w, m.ID)
	w.WriteRange(int64(m.Reason), 0, int64(despawnReasons)-1)
	w.Align()
}

// ReadDespawn reads the body of a ReliableDespawn.
func ReadDespawn(body []byte, m *Despawn) error {
	r := bits.NewReader(body)
	t := track{r: &r}
	t.at("id")
	m.ID = readID(&r)
	t.at("reason")
	m.Reason = DespawnReason(r.ReadRange(0, int64(despawnReasons)-1))
	return finish(&t, ReliableDespawn)
}

// Possess gives a character that a client knows already to that client, in a
// new epoch, from an exact state.
type Possess struct {
	ID    components.NetID
	Epoch uint16
	// ServerTime at which State held.
	ServerTime components.Ticks
	State      components.MovementState
}

// WritePossess writes a whole message.
func WritePossess(w *bits.Writer, m *Possess) {
	beginReliable(w, ReliablePossess)
	writeID(w, m.ID)
	writeEpoch(w, m.Epoch)
	w.WriteBits(uint64(m.ServerTime), 64)
	writeState(w, &m.State)
	w.Align()
}

// ReadPossess reads the body of a ReliablePossess.
func ReadPossess(body []byte, m *Possess) error {
	r := bits.NewReader(body)
	t := track{r: &r}
	t.at("id")
	m.ID = readID(&r)
	t.at("epoch")
	m.Epoch = readEpoch(&r)
	t.at("server time")
	m.ServerTime = components.Ticks(r.ReadBits(64))
	readState(&t, &m.State)
	return finish(&t, ReliablePossess)
}

// PossessAck is the owner's word that it has a possession: from then on it
// predicts, and the server takes its moves.
type PossessAck struct {
	ID    components.NetID
	Epoch uint16
}

// Unpossess takes a character away from its owner: the epoch ends.
type Unpossess PossessAck

// WritePossessAck writes a whole message.
func WritePossessAck(w *bits.Writer, m *PossessAck) { writeEpochOf(w, ReliablePossessAck, m) }

// ReadPossessAck reads the body of a ReliablePossessAck.
func ReadPossessAck(body []byte, m *PossessAck) error {
	return readEpochOf(body, ReliablePossessAck, m)
}

// WriteUnpossess writes a whole message.
func WriteUnpossess(w *bits.Writer, m *Unpossess) {
	writeEpochOf(w, ReliableUnpossess, (*PossessAck)(m))
}

// ReadUnpossess reads the body of a ReliableUnpossess.
func ReadUnpossess(body []byte, m *Unpossess) error {
	return readEpochOf(body, ReliableUnpossess, (*PossessAck)(m))
}

func writeEpochOf(w *bits.Writer, k ReliableKind, m *PossessAck) {
	beginReliable(w, k)
	writeID(w, m.ID)
	writeEpoch(w, m.Epoch)
	w.Align()
}

func readEpochOf(body []byte, k ReliableKind, m *PossessAck) error {
	r := bits.NewReader(body)
	t := track{r: &r}
	t.at("id")
	m.ID = readID(&r)
	t.at("epoch")
	m.Epoch = readEpoch(&r)
	return finish(&t, k)
}

// ServerInfo is what a client should know of the server.
type ServerInfo struct {
	// Players connected; the owner's send throttle looks at it.
	Players int32
}

// WriteServerInfo writes a whole message.
func WriteServerInfo(w *bits.Writer, m *ServerInfo) {
	beginReliable(w, ReliableServerInfo)
	w.WriteRange(int64(m.Players), 0, 1<<24-1)
	w.Align()
}

// ReadServerInfo reads the body of a ReliableServerInfo.
func ReadServerInfo(body []byte, m *ServerInfo) error {
	r := bits.NewReader(body)
	t := track{r: &r}
	t.at("players")
	m.Players = int32(r.ReadRange(0, 1<<24-1))
	return finish(&t, ReliableServerInfo)
}

// Keyframe is where an obstacle whose motion cannot be told ahead was, or will
// be, at a server time.
type Keyframe struct {
	ID   components.NetID
	Time components.Ticks
	Pose components.Pose
}

// WriteKeyframe writes a whole message.
func WriteKeyframe(w *bits.Writer, m *Keyframe) {
	if !legalPose(&m.Pose) {
		w.Refuse()
	}
	beginReliable(w, ReliableKeyframe)
	writeID(w, m.ID)
	w.WriteBits(uint64(m.Time), 64)
	w.WriteVec3Exact(m.Pose.Location)
	w.WriteFinite(m.Pose.Yaw)
	w.Align()
}

// ReadKeyframe reads the body of a ReliableKeyframe.
func ReadKeyframe(body []byte, m *Keyframe) error {
	r := bits.NewReader(body)
	t := track{r: &r}
	t.at("id")
	m.ID = readID(&r)
	t.at("time")
	m.Time = components.Ticks(r.ReadBits(64))
	t.at("pose")
	m.Pose.Location = r.ReadVec3Exact()
	m.Pose.Yaw = r.ReadFinite()
	t.check(legalPose(&m.Pose))
	return finish(&t, ReliableKeyframe)
}

func legalPose(p *components.Pose) bool {
	return within(p.Location, maxPlace) && within(components.Vec3{p.Yaw}, maxDegrees)
}
