// Command arena is gait's main job: a dedicated server, players and a pure
// onlooker, each in a world of its own, that talk UDP over a bad link.
//
//	go run ./examples/arena                    until Ctrl-C
//	go run ./examples/arena -duration 30s -json report.json -plot path.svg
//	go run ./examples/arena -level hall.glb    on a level from a file
//	go run ./examples/arena -h                 every flag
//
// It stands above everything else: netsync and its sessions carry the loop,
// package link is the bad network, package nettest has the nodes, the cheats
// and what is measured. Here they get real sockets, real time and a goroutine
// each:
//
//	run.go       who there is, who starts when, how it ends
//	server.go    the server's ticks; clients.go the clients' frames
//	probes.go    what is measured on owners and on the onlooker
//	live.go      the samples of the live table, table.go the table itself
//	report.go    the report; summary.go the same for a person; picture.go
//	cheats.go    what cheats gained, and what noticed them
//	virtual.go   what is measured afterwards, on a virtual clock
//	record.go    -record; replay.go -replay; level.go -level
//
// # What the figures mean
//
// A run begins with everybody standing still for two seconds, by which time
// they are connected as a rule; then the players' hands take over. At the end
// they let go, come to rest, and stand for a round trip and a second more.
// duration_s and all counters span all of it.
//
// The clients and the server share one monotonic clock of the process, and the
// onlooker's probes the server's path of each character; nothing else crosses
// between worlds but packets. Separate processes (-listen, -connect) have no
// such path: proxy_lag_ms is 0 there, and each side reports its own part.
//
// server_move_us is the wall time of ServerVerify by executed moves.
// allocs_per_server_tick is measured after the run in memory, with up to eight
// players of the same settings: the allocation counter is the whole process's,
// so while clients run beside the server it cannot tell whose they are.
//
// A cheat's honest twin plays after the run as well: the same player from the
// same place with the same hands, its frames and the server's ticks at the
// times they had, over the link of the same index and seed, on a virtual
// clock. gain_cm compares the lengths of their ways on the server as seen from
// above. Two ways that have parted at a corner stay apart, so single runs differ
// by what the level puts in their way; input that runs in circles shows the gain
// itself. noticed_by names the counters that counted more for the cheat than for
// its twin. Hands follow the real clock, whatever a cheat's own says.
//
// -silent freezes a client as a debugger would: it makes no frames, sends
// nothing, reads nothing, and finds waiting packets when it goes on.
package main
