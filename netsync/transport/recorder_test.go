package transport_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"testing"
	"testing/iotest"

	"github.com/gaitnet/gait/components"
	"github.com/gaitnet/gait/netsync/transport"
	"github.com/stretchr/testify/require"
)

// echo is a session in small: each frame it receives twice, as a server that
// polls before and after its work does, and answers each datagram with what it
// is and in which of the two it came. A datagram "fail" is answered to nobody.
func echo(conn transport.Conn, now components.Ticks, between func()) (log []string) {
	transport.SetFrame(conn, now)
	var buf [transport.MaxDatagram]byte
	for round := range 2 {
		for {
			n, from, ok := conn.Receive(buf[:])
			if !ok {
				break
			}
			line := fmt.Sprintf("%d/%d %s %s", now, round, from, buf[:n])
			if string(buf[:n]) == "fail" {
				from = netip.AddrPort{}
			}
			err := conn.Send([]byte(line), from)
			log = append(log, fmt.Sprint(line, " ", err != nil))
		}
		if round == 0 {
			between()
		}
	}
	return log
}

// recorded runs a session of three frames and returns its recording and log.
func recorded(t testing.TB) ([]byte, []string) {
	t.Helper()
	var file bytes.Buffer
	n := transport.NewNetwork(nil)
	server, err := n.Listen(serverAddr)
	require.NoError(t, err)
	client, err := n.Listen(clientAddr)
	require.NoError(t, err)
	rec := transport.NewRecorder(&file)
	require.NoError(t, rec.Write(7, 1, 0, []byte("seed 42")))
	conn := rec.Conn(0, server)
	var log []string
	say := func(s ...string) {
		for _, s := range s {
			require.NoError(t, client.Send([]byte(s), serverAddr))
		}
	}
	say("one", "two")
	log = append(log, echo(conn, 100, func() { say("three", "") })...)
	require.NoError(t, rec.Write(7, 2, 100, []byte("input")))
	log = append(log, echo(conn, 220, func() { say("fail", "five") })...)
	log = append(log, echo(conn, 340, func() {})...)
	require.NoError(t, rec.Close())
	require.NoError(t, conn.Close())
	return file.Bytes(), log
}

func replay(p *transport.Playback) (log []string) {
	for now, ok := p.NextFrame(); ok; now, ok = p.NextFrame() {
		log = append(log, echo(p, now, func() {})...)
	}
	return log
}

func open(t testing.TB, file []byte) *transport.Recording {
	t.Helper()
	rec, err := transport.OpenRecording(bytes.NewReader(file))
	require.NoError(t, err)
	return rec
}

func TestPlaybackGivesTheSameDatagramsToTheSameCalls(t *testing.T) {
	file, log := recorded(t)
	require.Len(t, log, 6)
	p, err := open(t, file).Playback(0)
	require.NoError(t, err)
	require.Equal(t, serverAddr, p.LocalAddr())
	require.Equal(t, log, replay(p))
	first, count := p.Diverged()
	require.NoError(t, first)
	require.Zero(t, count)
	in, out := p.Unfinished()
	require.Zero(t, in+out)
	require.Equal(t, uint64(6), p.Stats().PacketsIn)
	require.Equal(t, uint64(1), p.Stats().SendErrors)
}

func TestPlaybackNamesTheFirstThingThatDiffers(t *testing.T) {
	file, _ := recorded(t)
	for want, run := range map[string]func(p *transport.Playback){
		"frame 1: sends 5 other bytes": func(p *transport.Playback) {
			p.SetFrame(100)
			_ = p.Send([]byte("other"), clientAddr)
		},
		"frame 1: sends to 10.0.0.1:7777, recorded to 10.0.0.2:5000": func(p *transport.Playback) {
			p.SetFrame(100)
			_ = p.Send([]byte("100/0 10.0.0.2:5000 one"), serverAddr)
		},
		"frame 1: at tick 101, recorded at 100": func(p *transport.Playback) { p.SetFrame(101) },
		"frame 2: sends what was sent in frame 1": func(p *transport.Playback) {
			p.SetFrame(100)
			p.SetFrame(220)
			_ = p.Send(nil, clientAddr)
		},
		"frame 2: receives what was received in frame 1": func(p *transport.Playback) {
			p.SetFrame(100)
			p.SetFrame(220)
			p.Receive(make([]byte, transport.MaxDatagram))
		},
		"frame 4 at tick 460: the recording has ended": func(p *transport.Playback) {
			replay(p)
			p.SetFrame(460)
		},
		"frame 3: sends more than was recorded": func(p *transport.Playback) {
			replay(p)
			_ = p.Send(nil, clientAddr)
		},
	} {
		p, err := open(t, file).Playback(0)
		require.NoError(t, err)
		run(p)
		first, count := p.Diverged()
		require.ErrorContains(t, first, want)
		require.Equal(t, uint64(1), count, want)
	}
}

func TestTaggedRecordsComeBack(t *testing.T) {
	file, _ := recorded(t)
	rec := open(t, file)
	e, ok := rec.Tagged(7, 2)
	require.True(t, ok)
	require.Equal(t, components.Ticks(100), e.When)
	require.Equal(t, "input", string(e.Data))
	_, ok = rec.Tagged(8, 2)
	require.False(t, ok)
	_, err := rec.Playback(7)
	require.ErrorIs(t, err, transport.ErrNoStream)
}

func TestStreamsOfOneRecordingStayApart(t *testing.T) {
	var file bytes.Buffer
	n := transport.NewNetwork(nil)
	server, client := pair(t, n)
	rec := transport.NewRecorder(&file)
	s, c := rec.Conn(1, server), rec.Conn(2, client)
	transport.SetFrame(s, 10)
	transport.SetFrame(c, 11)
	require.NoError(t, c.Send([]byte("up"), serverAddr))
	require.NoError(t, s.Send([]byte("down"), clientAddr))
	receiveAll(s)
	receiveAll(c)
	require.NoError(t, rec.Close())
	for stream, want := range map[uint16]string{1: "up", 2: "down"} {
		p, err := open(t, file.Bytes()).Playback(stream)
		require.NoError(t, err)
		now, _ := p.NextFrame()
		require.Equal(t, components.Ticks(9+stream), now)
		p.SetFrame(now)
		got, _ := receiveAll(p)
		require.Equal(t, []string{want}, got)
	}
}

func TestCutRecordingNamesItsOffsetAndKeepsWhatCameBefore(t *testing.T) {
	file, _ := recorded(t)
	whole := open(t, file).Records
	last := int64(-1)
	for n := range file {
		rec, err := transport.OpenRecording(bytes.NewReader(file[:n]))
		var fault *transport.RecordingError
		require.ErrorAs(t, err, &fault)
		switch {
		case n < 8:
			require.ErrorIs(t, err, transport.ErrNotRecording)
		case n < 16:
			require.ErrorIs(t, err, transport.ErrTruncated)
		default:
			require.ErrorIs(t, err, transport.ErrTruncated)
			require.Equal(t, whole[:len(rec.Records)], append([]transport.RecordEntry{}, rec.Records...))
			require.LessOrEqual(t, fault.Offset, int64(n))
			require.GreaterOrEqual(t, fault.Offset, last)
			last = fault.Offset
		}
	}
	// The end record: 17 bytes, its count, its checksum.
	require.Equal(t, int64(len(file)-17-8-4), last)
}

func TestAnyFlippedBitIsNoticed(t *testing.T) {
	file, _ := recorded(t)
	for i := range file {
		bad := bytes.Clone(file)
		bad[i] ^= 1 << (i % 8)
		_, err := transport.OpenRecording(bytes.NewReader(bad))
		var fault *transport.RecordingError
		require.ErrorAs(t, err, &fault, "byte %d", i)
		require.LessOrEqual(t, fault.Offset, int64(i))
	}
}

func TestAMissingRecordIsNoticed(t *testing.T) {
	file, _ := recorded(t)
	// The first record holds "seed 42": 17 bytes, its 7, a checksum.
	const begin, end = 16, 16 + 17 + 7 + 4
	require.Contains(t, string(file[begin:end]), "seed 42")
	_, err := transport.OpenRecording(bytes.NewReader(append(bytes.Clone(file[:begin]), file[end:]...)))
	require.ErrorIs(t, err, transport.ErrCorrupt)
}

func TestBytesBehindTheEndAreCorrupt(t *testing.T) {
	file, _ := recorded(t)
	_, err := transport.OpenRecording(bytes.NewReader(append(bytes.Clone(file), 0)))
	require.ErrorIs(t, err, transport.ErrCorrupt)
}

func TestRecordingOfAnotherVersionIsRefused(t *testing.T) {
	// Version 2 with a right checksum.
	head, err := hex.DecodeString("676169747265630a" + "0200" + "0000" + "b5b645b4")
	require.NoError(t, err)
	_, err = transport.OpenRecording(bytes.NewReader(head))
	require.ErrorIs(t, err, transport.ErrRecordingVersion)
}

func TestAReadErrorIsPassedOn(t *testing.T) {
	broken := errors.New("broken")
	_, err := transport.OpenRecording(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
}

// TestRecordingLayout holds the document and the code together.
func TestRecordingLayout(t *testing.T) {
	var file bytes.Buffer
	server, client := pair(t, transport.NewNetwork(nil))
	rec := transport.NewRecorder(&file)
	c := rec.Conn(2, server)
	c.SetFrame(0x0102)
	require.NoError(t, client.Send([]byte("hi"), serverAddr))
	receiveAll(c)
	require.NoError(t, rec.Close())
	require.Equal(t, ""+
		"676169747265630a"+"0100"+"0000"+"8c3f67d6"+
		"01"+"0200"+"0000"+"0000000000000000"+"07000000"+"06"+"0a000001"+"611e"+"9ee1477b"+
		"02"+"0200"+"0000"+"0201000000000000"+"00000000"+"fb294271"+
		"03"+"0200"+"0000"+"0201000000000000"+"09000000"+"06"+"0a000002"+"8813"+"6869"+"c8c35fcd"+
		"07"+"0000"+"0000"+"0000000000000000"+"08000000"+"0300000000000000"+"4b9d1982",
		hex.EncodeToString(file.Bytes()))
}

type failingWriter struct{ left int }

var errDiskFull = errors.New("disk full")

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errDiskFull
	}
	return len(b), nil
}

func TestAFullDiskStopsTheRecordingAndNotTheSession(t *testing.T) {
	server, client := pair(t, transport.NewNetwork(nil))
	rec := transport.NewRecorder(&failingWriter{left: 1000})
	c := rec.Conn(0, server)
	for range 200 {
		require.NoError(t, client.Send(make([]byte, transport.MaxDatagram), serverAddr))
		got, _ := receiveAll(c)
		require.Len(t, got, 1)
	}
	require.ErrorIs(t, rec.Err(), errDiskFull)
	require.ErrorIs(t, rec.Close(), errDiskFull)
}

func TestNothingIsRecordedAfterTheEnd(t *testing.T) {
	var file bytes.Buffer
	server, _ := pair(t, transport.NewNetwork(nil))
	c, rec := transport.Record(server, &file)
	require.NoError(t, rec.Close())
	require.NoError(t, rec.Close())
	require.NoError(t, c.Send(nil, clientAddr))
	require.ErrorIs(t, rec.Write(0, 0, 0, nil), transport.ErrClosed)
	require.ErrorIs(t, rec.Write(0, 0, 0, make([]byte, transport.MaxRecord+1)), transport.ErrRecordTooLarge)
	require.Len(t, open(t, file.Bytes()).Records, 1)
}

func TestRecordingDoesNotAllocatePerDatagram(t *testing.T) {
	server, client := pair(t, transport.NewNetwork(nil))
	rec := transport.NewRecorder(io.Discard)
	c := rec.Conn(0, server)
	b, row, buf := make([]byte, 700), make([]byte, 24), make([]byte, transport.MaxDatagram)
	now := components.Ticks(0)
	tick := func() {
		now += 960
		c.SetFrame(now)
		_ = client.Send(b, serverAddr)
		for {
			_, from, ok := c.Receive(buf)
			if !ok {
				break
			}
			_ = c.Send(b, from)
		}
		client.Receive(buf)
		_ = rec.Write(0, 3, now, row)
	}
	tick()
	require.Zero(t, testing.AllocsPerRun(500, tick))
}

func FuzzOpenRecording(f *testing.F) {
	file, _ := recorded(f)
	f.Add(file)
	f.Add(file[:len(file)-30])
	f.Add(file[:16])
	f.Add([]byte("gaitrec\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := transport.OpenRecording(bytes.NewReader(data))
		if err != nil {
			var fault *transport.RecordingError
			require.ErrorAs(t, err, &fault)
			require.LessOrEqual(t, fault.Offset, int64(len(data)))
			return
		}
		for _, e := range rec.Records {
			if p, err := rec.Playback(e.Stream); err == nil {
				replay(p)
			}
		}
	})
}
