//go:build !gait_release

package systems

// debugBuild: the debug switches are compiled in. Build with the tag
// gait_release to leave them out.
const debugBuild = true
