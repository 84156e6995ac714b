package quickstart_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeShowsThisCode holds the README's snippet and the package together.
func TestReadmeShowsThisCode(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	code, err := os.ReadFile("quickstart.go")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(readme), "```go\n")
	require.True(t, ok, "the README has a snippet")
	snippet, _, ok := strings.Cut(rest, "```")
	require.True(t, ok)
	require.Contains(t, string(code), strings.TrimSpace(snippet))
}
