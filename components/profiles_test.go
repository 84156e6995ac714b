package components

import (
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

func fast(speed float64) MovementProfile {
	p := DefaultProfile()
	p.MaxWalkSpeed = speed
	return p
}

func TestRevisionsLiveSideBySide(t *testing.T) {
	var tab ProfileTable
	_, err := tab.Add("crate", DefaultProfile())
	require.NoError(t, err)
	hero, err := tab.Add("hero", fast(600))
	require.NoError(t, err)
	require.Equal(t, ProfileRef{ID: 1, Revision: 1}, hero)
	require.NoError(t, tab.Revise(1, 2, fast(800), 1000))

	newest, ok := tab.Newest(1)
	require.True(t, ok)
	require.Equal(t, ProfileRef{ID: 1, Revision: 2}, newest)
	require.Equal(t, 600.0, tab.Get(hero).MaxWalkSpeed)
	require.Equal(t, 800.0, tab.Get(newest).MaxWalkSpeed)
	require.NotNil(t, tab.Verifiable(hero, 1000))
	require.Nil(t, tab.Verifiable(hero, 1001), "past its deadline")
	require.NotNil(t, tab.Get(hero), "but still known")
	require.NotNil(t, tab.Verifiable(newest, 1<<60))

	require.Nil(t, tab.Get(ProfileRef{ID: 1, Revision: 3}))
	require.Nil(t, tab.Get(ProfileRef{ID: 1, Revision: 1 + profileRevisions}))
	require.Nil(t, tab.Verifiable(ProfileRef{ID: 2, Revision: 1}, 0))
	require.Equal(t, "hero", tab.Name(1))
	require.Empty(t, tab.Name(2))
	require.Equal(t, 2, tab.Len())
	_, ok = tab.Newest(2)
	require.False(t, ok)
}

func TestOnlyTheLastRevisionsAreKept(t *testing.T) {
	var tab ProfileTable
	ref, _ := tab.Add("hero", fast(1))
	for n := uint16(2); n <= 20; n++ {
		require.NoError(t, tab.Revise(ref.ID, n, fast(float64(n)), Ticks(n)))
	}
	for n := uint16(1); n <= 20; n++ {
		p := tab.Get(ProfileRef{ID: ref.ID, Revision: n})
		if n <= 20-profileRevisions {
			require.Nil(t, p, n)
			continue
		}
		require.Equal(t, float64(n), p.MaxWalkSpeed)
		require.Equal(t, n == 20, tab.Verifiable(ProfileRef{ID: ref.ID, Revision: n}, 100) != nil, n)
	}
}

func TestRevisionsOnlyCountUp(t *testing.T) {
	var tab ProfileTable
	ref, _ := tab.Add("hero", fast(1))
	require.NoError(t, tab.Revise(ref.ID, 5, fast(5), 0), "a client may be told of a later one")
	require.NoError(t, tab.Revise(ref.ID, 5, fast(5), 99), "and told twice")
	require.NotNil(t, tab.Verifiable(ProfileRef{ID: ref.ID, Revision: 5}, 100))
	require.ErrorIs(t, tab.Revise(ref.ID, 5, fast(6), 0), ErrProfile)
	require.ErrorIs(t, tab.Revise(ref.ID, 4, fast(4), 0), ErrProfile)
	newest, _ := tab.Newest(ref.ID)
	require.Equal(t, uint16(5), newest.Revision)
	require.Equal(t, 5.0, tab.Get(newest).MaxWalkSpeed)

	// The number wraps.
	require.NoError(t, tab.Revise(ref.ID, 40000, fast(40), 0))
	require.NoError(t, tab.Revise(ref.ID, 65535, fast(65), 0))
	require.NoError(t, tab.Revise(ref.ID, 0, fast(7), 0))
	newest, _ = tab.Newest(ref.ID)
	require.Equal(t, uint16(0), newest.Revision)
	require.ErrorIs(t, tab.Revise(ref.ID, 65535, fast(1), 0), ErrProfile)
}

func TestBadProfilesAreRefused(t *testing.T) {
	var tab ProfileTable
	_, err := tab.Add("hero", MovementProfile{})
	require.ErrorIs(t, err, ErrProfile)
	require.ErrorContains(t, err, `profile "hero"`)
	ref, _ := tab.Add("hero", DefaultProfile())
	require.ErrorIs(t, tab.Revise(ref.ID, 2, MovementProfile{}, 0), ErrProfile)
	require.ErrorIs(t, tab.Revise(7, 2, DefaultProfile(), 0), ErrProfile)
	newest, _ := tab.Newest(ref.ID)
	require.Equal(t, ref, newest)

	// No field may be NaN or infinite, those without bounds of their own too.
	for i := range reflect.TypeFor[MovementProfile]().NumField() {
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			p := DefaultProfile()
			f := reflect.ValueOf(&p).Elem().Field(i)
			if !f.CanFloat() {
				continue
			}
			f.SetFloat(bad)
			require.ErrorContains(t, p.Validate(), reflect.TypeFor[MovementProfile]().Field(i).Name)
		}
	}
}

func TestProfileHashIsPinned(t *testing.T) {
	p := DefaultProfile()
	require.Equal(t, uint64(0x95347ae5d358e807), p.Hash())
	var tab ProfileTable
	_, _ = tab.Add("hero", p)
	_, _ = tab.Add("mount", fast(900))
	require.Equal(t, uint64(0xa3ad9e6f0c99a47d), tab.Hash())
	require.Equal(t, uint64(0xdcc7e994cc977d4b), tab.LiveHash())
}

func TestProfileHashSeesEveryField(t *testing.T) {
	base := DefaultProfile()
	seen := map[uint64]string{base.Hash(): "none"}
	for i := range reflect.TypeFor[MovementProfile]().NumField() {
		p := DefaultProfile()
		f := reflect.ValueOf(&p).Elem().Field(i)
		switch {
		case f.CanFloat():
			f.SetFloat(math.Nextafter(f.Float(), 1e9))
		case f.CanInt():
			f.SetInt(f.Int() + 1)
		case f.CanUint():
			f.SetUint(f.Uint() + 1)
		default:
			f.SetBool(!f.Bool())
		}
		name := reflect.TypeFor[MovementProfile]().Field(i).Name
		require.NotContains(t, seen, p.Hash(), name)
		seen[p.Hash()] = name
	}
}

func TestTableHashIsThatOfWhatBothEndsLoaded(t *testing.T) {
	build := func(name string, speed float64) *ProfileTable {
		t := new(ProfileTable)
		_, _ = t.Add("crate", DefaultProfile())
		_, _ = t.Add(name, fast(speed))
		return t
	}
	a, b := build("hero", 600), build("hero", 600)
	require.Equal(t, a.Hash(), b.Hash())
	require.Equal(t, a.LiveHash(), b.LiveHash())
	require.NotEqual(t, a.Hash(), build("heroine", 600).Hash())
	require.NotEqual(t, a.Hash(), build("hero", 601).Hash())
	require.NotEqual(t, a.Hash(), new(ProfileTable).Hash())

	require.NoError(t, a.Revise(1, 2, fast(700), 0))
	require.Equal(t, a.Hash(), b.Hash(), "one who joins after a buff has loaded the same")
	require.NotEqual(t, a.LiveHash(), b.LiveHash())
	require.NoError(t, b.Revise(1, 2, fast(700), 55))
	require.Equal(t, a.LiveHash(), b.LiveHash())
}
