package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// deaf is a proxy that loses the answer to each second packet that ends with one of some words: the server
// has run it, and the client's connection ends. fuzz.Cutter cuts anywhere, and seldom there.
type deaf struct {
	words  [][]byte
	heard  atomic.Int64 // packets that end so
	lost   atomic.Int64 // of them, those without an answer
	accept net.Listener
	to     string
	all    sync.WaitGroup
}

func newDeaf(to string, words ...string) (*deaf, error) {
	accept, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("a proxy: %w", err)
	}
	d := &deaf{accept: accept, to: to}
	for _, word := range words {
		d.words = append(d.words, []byte(word))
	}
	d.all.Go(func() {
		for {
			client, err := accept.Accept()
			if err != nil {
				return // closed
			}
			d.all.Go(func() { d.serve(client) })
		}
	})
	return d, nil
}

func (d *deaf) addr() string { return d.accept.Addr().String() }

// close returns when all clients have ended.
func (d *deaf) close() error {
	err := d.accept.Close()
	d.all.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (d *deaf) serve(client net.Conn) {
	defer client.Close() //nolint:errcheck // it has ended
	server, err := net.Dial("tcp", d.to)
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // it has ended
	var loses atomic.Bool
	d.all.Go(func() {
		defer client.Close() //nolint:errcheck // it has ended
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if err != nil || loses.Load() {
				return // the server has answered, so it has run what came
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	})
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if d.word(buf[:n]) && d.heard.Add(1)%2 == 1 {
			d.lost.Add(1)
			loses.Store(true)
		}
		if _, werr := io.Copy(server, bytes.NewReader(buf[:n])); werr != nil || err != nil {
			return
		}
	}
}

func (d *deaf) word(text []byte) bool {
	for _, word := range d.words {
		if bytes.HasSuffix(text, word) {
			return true
		}
	}
	return false
}
