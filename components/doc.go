// Package components holds every piece of state of gait as plain structs
// without a pointer in them, one family a file. Systems read and write them,
// netsync carries them; none of them does anything by itself.
//
// Time is in Ticks of 1/57,600 s, lengths in centimetres, angles in degrees,
// Z is up.
package components
