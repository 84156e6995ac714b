package systems_test

import (
	"testing"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/ecs"
	"github.com/gaitnet/gait/systems"
	"github.com/stretchr/testify/require"
)

func TestASecondMovementPluginPanics(t *testing.T) {
	for role := ecs.Server; ecs.AllRoles.Has(role); role <<= 1 {
		app := ecs.New(role).Use(&systems.Movement{Geometry: exampleLevel()})
		require.PanicsWithValue(t, "systems.Movement: the app has it already", func() {
			app.Use(&systems.Movement{Geometry: exampleLevel()})
		})
	}
}

func TestSpecOfAnUnknownProfilePanics(t *testing.T) {
	require.PanicsWithValue(t, "systems.SpecAt: the table holds no profile 7, revision 1", func() {
		systems.SpecAt(0, systems.DefaultProfiles(), components.ProfileRef{ID: 7, Revision: 1}, components.Vec3{}, 0)
	})
}
