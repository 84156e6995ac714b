package components

import (
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"
)

// ErrRegistry is wrapped by every complaint about a registration; a pointer in
// a type is a *PointerError as well.
var ErrRegistry = errors.New("registry")

// ErrSealed is wrapped by a registration that came after Seal.
var ErrSealed = errors.New("the registry is sealed")

// MaxTypesPerKind bounds the registered types of one kind: a block marks those
// present in one word.
const MaxTypesPerKind = 64

// ModeInfo describes a movement mode to the network: what both ends must agree
// on beside its step, which lies in the kernel.
type ModeInfo struct {
	ID   MovementMode
	Name string
	// MaxPayload is the longest payload of the mode in a move, in bytes; 0 for
	// a mode without one.
	MaxPayload uint16
	// Version of the mode's rules and of its payload, the game's own count.
	Version uint16
}

// Registry is the list of movement modes and networked component types that
// both ends of a session share, a resource. While it is open, a game and its
// plugins add to it; Seal fixes numbers, block layout and hash. After that it
// does not change, and any number of goroutines and worlds may read it.
//
//	r := NewRegistry()
//	r.RegisterMode(FirstCustomMode, "glide")
//	RegisterInput(r, "sprint", TagCodec[Sprint](), InputRules[Sprint]{})
//	RegisterPredicted(r, "stamina", ExactCodec[Stamina](), PredictedRules[Stamina]{})
//	RegisterReplicated(r, "health", ToAll, TagCodec[Health]())
//	r.Seal()
//
// A registration that cannot stand (after Seal, under a name or an ID that is
// taken, of a type that holds a pointer) panics and names the type; the Try
// forms return that as an error.
type Registry struct {
	sealed bool
	modes  [256]ModeInfo // Name "" is free
	// types by kind, in order of registration.
	types   [numKinds][]*TypeInfo
	strides [numKinds]int
	// canonical: all codecs of the kind are compiled, so that what is equal as
	// sent is known here and a block has one encoding only.
	canonical [numKinds]bool
	all       []*TypeInfo
	prints    []NamedHash
	hash      uint64
}

// MovementTypeName is the name of the registry's first entry,
// ReplicatedMovement.
const MovementTypeName = "gait.movement"

// NewRegistry is an open registry with the built-in modes (walking, falling,
// swimming, flying) and ReplicatedMovement, the first replicated type, which
// the owner never receives. How that is packed depends on the packets, so it
// comes without a codec: netsync puts its own in with SetCodec before it seals.
// A world without a network seals it as it is.
func NewRegistry() *Registry {
	r := new(Registry)
	for i, name := range []string{"walking", "falling", "swimming", "flying"} {
		id := ModeWalking + MovementMode(i)
		r.modes[id] = ModeInfo{ID: id, Name: name}
	}
	must(register[ReplicatedMovement](r, MovementTypeName, KindReplicated, SkipOwner, nil, nil))
	return r
}

func must(_ *TypeInfo, err error) {
	if err != nil {
		panic("components: " + err.Error())
	}
}

// RegisterMode adds a movement mode of a game. IDs start at FirstCustomMode.
func (r *Registry) RegisterMode(id MovementMode, name string) {
	must(nil, r.TryRegisterMode(ModeInfo{ID: id, Name: name}))
}

// RegisterModeInfo adds a movement mode with a payload or a version.
func (r *Registry) RegisterModeInfo(m ModeInfo) { must(nil, r.TryRegisterMode(m)) }

// TryRegisterMode is RegisterModeInfo with the complaint as an error.
func (r *Registry) TryRegisterMode(m ModeInfo) error {
	if r.sealed {
		return fmt.Errorf("%w: mode %q (%d): %w", ErrRegistry, m.Name, m.ID, ErrSealed)
	}
	if err := checkName(m.Name); err != nil {
		return fmt.Errorf("%w: mode %d: %w", ErrRegistry, m.ID, err)
	}
	if old := r.modes[m.ID]; old.Name != "" {
		return fmt.Errorf("%w: mode %q has the ID %d, which mode %q has", ErrRegistry, m.Name, m.ID, old.Name)
	}
	if m.ID < FirstCustomMode {
		return fmt.Errorf("%w: mode %q has the ID %d; a game's modes start at %d", ErrRegistry, m.Name, m.ID, FirstCustomMode)
	}
	for i := range r.modes {
		if r.modes[i].Name == m.Name {
			return fmt.Errorf("%w: modes %d and %d are both named %q", ErrRegistry, r.modes[i].ID, m.ID, m.Name)
		}
	}
	r.modes[m.ID] = m
	return nil
}

// checkName keeps names to one readable line: they go into refusals and logs.
func checkName(name string) error {
	if name == "" || len(name) > 64 {
		return fmt.Errorf("the name %q is not 1..64 bytes long", name)
	}
	for _, c := range name {
		if c <= ' ' || c > '~' {
			return fmt.Errorf("the name %q holds more than printable ASCII without spaces", name)
		}
	}
	return nil
}

// Mode is what was registered under id, and whether anything was. ModeNone is
// no mode.
func (r *Registry) Mode(id MovementMode) (ModeInfo, bool) {
	m := r.modes[id]
	return m, m.Name != ""
}

// HasMode tells whether id is a mode: what a packet may name.
func (r *Registry) HasMode(id MovementMode) bool { return r.modes[id].Name != "" }

// ModeName is the name of a mode, or "none" or "mode N" for what is not one.
func (r *Registry) ModeName(id MovementMode) string {
	switch {
	case r.modes[id].Name != "":
		return r.modes[id].Name
	case id == ModeNone:
		return "none"
	}
	return fmt.Sprintf("mode %d", id)
}

// Sealed tells whether Seal was called.
func (r *Registry) Sealed() bool { return r.sealed }

// Seal fixes the registry: types get their IDs (replicated ones first, then
// input, then predicted, each in order of registration), blocks their layout,
// the whole its hash. Sealing again does nothing, so every plugin that needs a
// sealed registry may ask for it.
func (r *Registry) Seal() {
	if r.sealed {
		return
	}
	r.sealed = true
	for k := range r.types {
		r.canonical[k] = true
		end := 0
		if len(r.types[k]) > 0 {
			end = 8 // the word that marks the types present
		}
		for i, t := range r.types[k] {
			t.ID, t.Index = uint16(len(r.all)), i
			r.all = append(r.all, t)
			r.canonical[k] = r.canonical[k] && t.ops.compiled()
			if t.Size == 0 {
				continue // any place serves nothing
			}
			end = alignUp(end, int(t.Align))
			t.offset = end
			end += int(t.Size)
		}
		r.strides[k] = alignUp(end, 8)
	}
	r.fingerprint()
}

func alignUp(n, a int) int { return (n + a - 1) / a * a }

func (r *Registry) mustBeSealed() {
	if !r.sealed {
		panic("components.Registry: used before Seal")
	}
}

// Types are all registered types by ID. The slice is the registry's own.
func (r *Registry) Types() []*TypeInfo { r.mustBeSealed(); return r.all }

// OfKind are the types of one kind by Index. The slice is the registry's own.
func (r *Registry) OfKind(k TypeKind) []*TypeInfo { r.mustBeSealed(); return r.types[k] }

// Type is the type with an ID, nil when there is none: a packet may name any.
func (r *Registry) Type(id uint16) *TypeInfo {
	r.mustBeSealed()
	if int(id) >= len(r.all) {
		return nil
	}
	return r.all[id]
}

// Lookup finds a type by its kind and Go type, open or sealed; nil when it is
// not registered.
func (r *Registry) Lookup(k TypeKind, t reflect.Type) *TypeInfo {
	for _, ti := range r.types[k] {
		if ti.rtype == t {
			return ti
		}
	}
	return nil
}

// LookupName finds a type by its kind and name, open or sealed.
func (r *Registry) LookupName(k TypeKind, name string) *TypeInfo {
	for _, ti := range r.types[k] {
		if ti.Name == name {
			return ti
		}
	}
	return nil
}

// NamedHash is the fingerprint of one entry.
type NamedHash struct {
	// Name of the entry with its kind: "mode glide", "predicted stamina".
	Name string
	Hash uint64
	// Text is what was hashed, for people.
	Text string
}

// registryVersion counts changes of what the hash covers or of what the
// compiled codecs write.
const registryVersion = 1

// fingerprint hashes text, so it is equal on every target: no pointer size, no
// offset, no map order is in it.
func (r *Registry) fingerprint() {
	add := func(name, text string) {
		r.prints = append(r.prints, NamedHash{Name: name, Hash: hashText(name + "\n" + text), Text: text})
	}
	for i := range r.modes {
		if m := &r.modes[i]; m.Name != "" {
			add("mode "+m.Name, fmt.Sprintf("id %d payload %d version %d", m.ID, m.MaxPayload, m.Version))
		}
	}
	for _, t := range r.all {
		add(t.Kind.String()+" "+t.Name, fmt.Sprintf("id %d condition %v codec %s fields %s", t.ID, t.Condition, t.codec, layoutText(t.leaves)))
	}
	all := fmt.Sprintf("gait registry %d\n", registryVersion)
	for _, p := range r.prints {
		all += p.Name + "\n" + p.Text + "\n"
	}
	r.hash = hashText(all)
}

func hashText(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // never fails, as hash.Hash says
	return h.Sum64()
}

// Hash is equal on two machines exactly when their registries agree in modes,
// types, order, conditions, fields and codecs, whatever their targets.
func (r *Registry) Hash() uint64 { r.mustBeSealed(); return r.hash }

// Fingerprints are the entries' own hashes, modes by ID and then types by ID:
// Disagreement tells from two ends' which entry differs. The slice is
// the registry's own.
func (r *Registry) Fingerprints() []NamedHash { r.mustBeSealed(); return r.prints }

// Describe lists what is registered, one entry a line.
func (r *Registry) Describe() string {
	r.mustBeSealed()
	var b strings.Builder
	for _, p := range r.prints {
		fmt.Fprintf(&b, "%016x %s: %s\n", p.Hash, p.Name, p.Text)
	}
	return b.String()
}

// Disagreement says in one line where two registries differ, empty where they
// do not: the entry that one lacks, or that both have with other contents.
// Text may be missing in theirs (it need not cross the wire).
func Disagreement(ours, theirs []NamedHash) string {
	for _, o := range ours {
		i := indexOf(theirs, o.Name)
		switch {
		case i < 0:
			return fmt.Sprintf("%q is registered here and not there", o.Name)
		case theirs[i].Hash != o.Hash && theirs[i].Text != "":
			return fmt.Sprintf("%q differs: here %s, there %s", o.Name, o.Text, theirs[i].Text)
		case theirs[i].Hash != o.Hash:
			return fmt.Sprintf("%q differs: here %s", o.Name, o.Text)
		}
	}
	for _, t := range theirs {
		if indexOf(ours, t.Name) < 0 {
			return fmt.Sprintf("%q is registered there and not here", t.Name)
		}
	}
	return ""
}

func indexOf(l []NamedHash, name string) int {
	for i := range l {
		if l[i].Name == name {
			return i
		}
	}
	return -1
}
