//go:build js || wasip1

package transport_test

import (
	"testing"

	"github.com/gaitnet/gait/netsync/transport"
	"github.com/stretchr/testify/require"
)

func TestWithoutSocketsListenUDPSaysSo(t *testing.T) {
	_, err := transport.ListenUDP("127.0.0.1:0")
	require.ErrorIs(t, err, transport.ErrNoUDP)
}
