package main

import (
	"fmt"
	"io"
)

// help is every flag: what follows it, its default, what it does.
var help = [...]struct {
	head  string
	flags [][3]string
}{
	{"The run", [][3]string{
		{"clients N", "8", "players, each a UDP client with a world of its own; they count from 0"},
		{"duration D", "0", "how long to play; 0 until Ctrl-C"},
		{"fps N", "60", "the clients' frame rate"},
		{"tick KIND", "variable", "variable: a step a frame; fixed: equal steps"},
		{"server-hz N", "30", "the server's ticks a second"},
		{"net-hz N", "20", "snapshots of each character a second"},
		{"input FILE,...", "", "recorded input (CSV), given to the clients in turn; generated without"},
		{"profile FILE", "", "JSON of movement profile fields by name, over the defaults"},
		{"level FILE", "", "the level: glTF 2.0 (.gltf, .glb) or OBJ, in metres with Y up"},
		{"seed N", "1", "of link, input and cheats"},
		{"listen ADDR", "", "run the server alone and listen on ADDR"},
		{"connect ADDR", "", "run the clients alone, against the server at ADDR"},
	}},
	{"The link, each way unless it says otherwise", [][3]string{
		{"rtt D", "100ms", "round trip time, both ways together"},
		{"jitter D", "10ms", "0 to D more for each packet; the order is kept"},
		{"loss P", "2", "packets lost, percent"},
		{"burst N", "1", "the mean number of packets lost in a row"},
		{"burst-max N", "1", "the most packets lost in a row"},
		{"reorder P", "0", "packets overtaken by later ones, percent"},
		{"duplicate P", "0", "packets that arrive twice, percent"},
		{"corrupt P", "0", "packets with bits flipped, percent"},
		{"trace-up FILE", "", "a recorded link from the clients to the server: mahimahi,"},
		{"", "", "round trips (CSV), seconds and Mbit/s, or a profile (JSON)"},
		{"trace-down FILE", "", "the same from the server to the clients"},
		{"trace-start D", "0", "where in the traces to start"},
	}},
	{"The game; smoothing, redundancy and discrepancy are those of the server", [][3]string{
		{"smoothing MODE", "exponential", "exponential, linear, disabled or buffered"},
		{"redundancy MODE", "full", "full: every unacknowledged move; reference: one old move"},
		{"discrepancy MODE", "resolve", "of fast clocks: off, detect or resolve"},
		{"cheat KIND@CLIENT", "", "make a client cheat; repeatable, or a comma list. Kinds:"},
	}},
	{"", [][3]string{ // the cheats are put in here
		{"silent CLIENT@T+D", "", "from T on a client sends nothing for D; repeatable, or a comma list"},
	}},
	{"What comes out", [][3]string{
		{"json FILE", "", "the report"},
		{"plot FILE", "", "a picture (SVG) of one player's path"},
		{"record FILE", "", "record packets, inputs and seed"},
		{"replay FILE", "", "play a recording back, to the same hash"},
		{"quiet", "", "no live table and no summary"},
	}},
}

// usage writes what -h shows.
func usage(w io.Writer) {
	fmt.Fprintln(w, "Usage: arena [flags]")
	fmt.Fprintln(w)
	fmt.Fprintln(w, "A dedicated server, players and an onlooker as separate worlds that talk UDP over")
	fmt.Fprintln(w, "a bad link. A live table shows how prediction, verification and correction do.")
	for _, section := range help {
		if section.head != "" {
			fmt.Fprintf(w, "\n%s:\n", section.head)
		} else {
			for _, k := range cheatKinds {
				fmt.Fprintf(w, "  %-20s %-12s   %-9s %s\n", "", "", k[0], k[1])
			}
		}
		for _, f := range section.flags {
			name := f[0]
			if name != "" {
				name = "-" + name
			}
			fmt.Fprintf(w, "  %-20s %-12s %s\n", name, f[1], f[2])
		}
	}
}
