// Package levelfile reads levels from files: glTF 2.0 (.gltf and .glb) and
// Wavefront OBJ. It stands beside package collision, so that only those who
// load files depend on a glTF library.
//
//   - To read a level call Parse with the file's bytes; the format is told by
//     the content. A .gltf with buffers in files of its own needs Options.FS.
//   - To see what was kept, dropped and skipped look at the Report.
//
// # Units and axes
//
// glTF is in metres with Y up: (x, y, z) becomes (100x, -100z, 100y) cm with Z
// up. An OBJ says neither; Options.Unit and Options.ZUp do, and by default it
// is taken to be as glTF is.
//
// # Extras
//
// An object "gait" in the extras of a glTF node, mesh, primitive or material
// gives flags:
//
//	"extras": {"gait": {"walkable": true}}
//
//	walkable     bool  walkable however steep (collision.SurfaceWalkable)
//	unwalkable   bool  never walkable (collision.SurfaceUnwalkable)
//	no_step_up   bool  no stepping up onto it (collision.SurfaceNoStepUp)
//	user         int   0 to 255, a game's own bits (the upper eight)
//	collision    bool  false leaves the geometry out
//	spawn        bool  the place of this empty node is a spawn point (nodes only)
//
// Flags of a node hold for the nodes below it too. Where several speak, the
// nearer to the triangle wins, flag by flag: outer node, node, mesh, primitive,
// material; walkable undoes an outer unwalkable and the other way round. A
// spawn flag is the node's alone.
//
// # What is refused
//
// Every complaint is an *Error: one line with the place. Skins, morph targets,
// sparse accessors, compressed geometry (Draco, meshopt), GPU instancing and
// free-form OBJ geometry are not supported and refused by name where they would
// take part in collision. Points and lines have no surface: they are counted
// and skipped. Animations are not looked at.
//
// Nothing is allocated by a count that a file claims before the bytes behind it
// are seen, and the number of triangles is bounded (Options.MaxTriangles).
//
// Equal bytes give equal bits on every target: numbers are read exactly, every
// product is rounded by itself, and quaternions turn without trigonometry.
package levelfile
