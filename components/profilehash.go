package components

import (
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"strings"
)

// Hash is over the names of the profiles and every field of each as Add took
// it in, bit by bit: equal exactly where both ends loaded the same table,
// whatever their targets. Revisions made since do not count, so a player who
// joins after a buff is not refused.
func (t *ProfileTable) Hash() uint64 {
	var b strings.Builder
	for i := range t.entries {
		e := &t.entries[i]
		fmt.Fprintf(&b, "%d %q %016x\n", i, e.name, e.added)
	}
	return hashText(b.String())
}

// LiveHash is over the names and every revision that is held, with its number:
// equal where both ends also heard of the same changes. Deadlines do not count.
func (t *ProfileTable) LiveHash() uint64 {
	var b strings.Builder
	for i := range t.entries {
		e := &t.entries[i]
		fmt.Fprintf(&b, "%d %q\n", i, e.name)
		for j := range e.revisions { // by number modulo their count on every machine
			if r := &e.revisions[j]; r.used {
				fmt.Fprintf(&b, " %d %016x\n", r.number, r.profile.Hash())
			}
		}
	}
	return hashText(b.String())
}

// Hash is over the profile's fields by name, in order of declaration, floats
// by their bits.
func (p *MovementProfile) Hash() uint64 {
	h := fnv.New64a()
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		var x uint64
		switch {
		case f.CanFloat():
			x = math.Float64bits(f.Float())
		case f.CanInt():
			x = uint64(f.Int())
		case f.CanUint():
			x = f.Uint()
		case f.Kind() == reflect.Bool:
			if f.Bool() {
				x = 1
			}
		default:
			panic(fmt.Sprintf("components.MovementProfile: field %s of kind %v has no place in the hash", v.Type().Field(i).Name, f.Kind()))
		}
		_, _ = fmt.Fprintf(h, "%s=%016x\n", v.Type().Field(i).Name, x)
	}
	return h.Sum64()
}
