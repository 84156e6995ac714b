package ecs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPhasesArePrintedByName(t *testing.T) {
	require.Equal(t, "Receive", Receive.String())
	require.Equal(t, "Send", Send.String())
	require.Equal(t, "Phase(9)", Phase(9).String())
}

func TestRolesArePrintedByName(t *testing.T) {
	require.Equal(t, "none", Roles(0).String())
	require.Equal(t, "Client", Client.String())
	require.Equal(t, "Server|ListenServer", (Server | ListenServer).String())
	require.Equal(t, "Standalone|Roles(0x40)", (Standalone | 0x40).String())
}

func TestRolesHasNeedsEveryRoleNamed(t *testing.T) {
	require.True(t, AllRoles.Has(Server|Client))
	require.False(t, Server.Has(Server|Client))
	require.False(t, AllRoles.Has(0))
}

func TestOnlyOneKnownRoleIsSingle(t *testing.T) {
	require.True(t, ListenServer.Single())
	require.False(t, (Server | Client).Single())
	require.False(t, Roles(0).Single())
	require.False(t, Roles(0x40).Single())
}
