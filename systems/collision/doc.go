// Package collision answers what a movement step asks of the world: capsule
// sweeps, overlaps and rays against an immutable level of triangles and the
// moving boxes beside it.
//
// Its place: the Simulate phase calls the kernel, the kernel calls a Geometry;
// server, owner and onlooker hold equal ones, so equal steps give equal bits.
// Nothing here knows of characters, packets or clocks.
//
//   - To build a level in code call NewBuilder, Box, Ramp, Stairs, Floor,
//     Triangle and the others, then Build. Level.Hash goes into the handshake.
//   - To get the built-in level call Arena.
//   - To ask, put levels and obstacles into a World (NewWorld, AddLevel,
//     AddObstacle) and call Sweep, Overlap, Ray, BasePose, BaseVelocity. A
//     *Level by itself is a Geometry without obstacles.
//   - To move an obstacle whose motion cannot be told ahead call
//     World.PushKeyframe.
//
// A sweep is closed form: a ray against the triangle stretched along the
// capsule's upright segment and rounded by its radius. Faces collide from both
// sides. An edge or corner shared by triangles is tested by one of them, and
// an edge inside a flat surface by none, so a floor of many triangles is as
// smooth as one. The answer is the least of (fraction, obstacle, height of the
// point, triangle), whatever order the tree is walked in; on an upright wall,
// which is met along a line, the point is the line's lowest. Queries
// allocate nothing and may run from any number of goroutines while nothing is
// added or removed.
//
// Levels from glTF, .glb and OBJ files come from package levelfile, which is
// apart so that only those who load files pull its dependency.
package collision
