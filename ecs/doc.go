// Package ecs runs systems over an arche world in a fixed order, for one of
// four roles, on a clock that is told the time. It knows nothing of movement or
// packets; those are systems, in the rooms above.
//
// # A frame
//
// App.Frame(now) runs the phases in this order, and within a phase the systems
// in order of adding, save where After and Before say otherwise:
//
//	phase     runs          server                       owning client           other clients
//	Receive   once a frame  packets to received moves    responses, snapshots    snapshots
//	Bases     each step     obstacles and bases to this step's time, everywhere
//	Replay    each step     -                            roll back and replay    -
//	Input     each step     AI input                     input to intent         -
//	Simulate  each step     verify moves, AI             predict                 move proxies
//	Gather    each step     snapshots of what is true    -                       -
//	Visual    once a frame  on a listen server           smooth meshes           smooth meshes
//	Send      once a frame  responses, then replication  one move container      acknowledgements
//
// In variable mode a frame has one step, as long as the frame; in fixed mode
// (option Fixed) as many equal steps as fit, at most MaxSteps. A frame in which
// no time has passed, and a fixed frame in which no step is full, has none: it
// runs Receive, Visual and Send alone.
//
// At the end of each phase queued commands are carried out; after each system
// the App makes sure that no query was left open.
//
// # To do X call Y
//
//   - make an app with a world of its own: New; over your own world: Adopt
//   - add systems that know their place: App.Add; any other system: App.AddTo
//   - add what belongs together: App.Use with a Plugin
//   - put a system before or behind another: give it After or Before
//   - see the order: App.Systems, App.WriteSchedule
//   - run: App.Initialize, then App.Frame for each frame, then App.Finalize
//   - read the time in a system: keep arche.GetResource[ecs.Clock](w) from
//     Initialize on
//   - change structure while a query is open: the Commands resource
//   - register a component: RegisterComponent, which refuses one that holds a
//     pointer; check a whole world: CheckWorld
//   - work on whole columns: Tables and ColumnOf
//   - split work over cores: the Pool resource (option Workers)
//   - time systems: App.Watch with a Probe
//   - run these systems in a plain arche-model Model: ClockSystem; run a whole
//     App there: App.AsSystem
//
// # Rules of arche that this package keeps
//
// Components hold no Go pointer: arche moves them as raw bytes, behind the back
// of the garbage collector. Filters, maps and IDs are fields built in
// Initialize, never package variables, because a process may hold several
// worlds. Queries are opened and closed on one goroutine; only ranges of
// columns go to others. The listener of a world is its user's.
package ecs
