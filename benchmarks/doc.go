// Command benchmarks measures the parts of the loop and prints a table: what a
// move, a frame or a packet costs, what it allocates, and the hash of the state
// it ended in, so that two builds are known to have done the same.
//
//	go run ./benchmarks            the table
//	go test -bench . ./benchmarks  the same rows for benchstat
//
// Times on a shared machine vary by half; compare rows of one run.
package main
