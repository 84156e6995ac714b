//go:build gait_release

package systems

// debugBuild: the debug switches are compiled out.
const debugBuild = false
