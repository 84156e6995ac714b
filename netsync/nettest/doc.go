// Package nettest is the test harness that gait's own tests and its users'
// share: a server, clients, the link between them and a virtual clock in one
// process, recorded human input to play with, and the probes that measure what
// came of it. It stands above every other package and sees them all; nothing
// but tests and examples imports it.
//
// To run a session, call NewSession, Session.Connect and Session.Advance, look
// at its worlds, and Session.Close it.
//
// To play like a human, read a recording with ParseInput or make one up with
// GenerateInput, and call Sampler.Apply once a client frame before the world's
// update.
//
// To measure, feed the probes once a frame or tick, after the world's update:
// OwnerProbe and ProxyProbe what a client drew, Path and HashChain what the
// server has, VerdictProbe as ServerVerify's observer, RateMeter the counters.
// None of them allocates. At the end put their Histograms into a Report and
// call Report.WriteJSON.
//
// To see a path with its corrections, fill a Picture meanwhile and call
// Picture.WriteSVG.
package nettest
