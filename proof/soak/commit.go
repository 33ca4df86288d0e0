package main

import (
	"bytes"
	"math/rand/v2"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// commitToxic is a toxic of our own, for the way to the server: it ends a connection at a COMMIT, before it
// is passed on or just behind it, so that the answer is lost. Either way the client cannot know.
type commitToxic struct {
	Percent int `json:"percent"` // of the COMMITs
}

const commitKind = "commit"

// Pipe passes on what comes until it ends the connection or is taken away.
func (t *commitToxic) Pipe(stub *toxics.ToxicStub) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case chunk := <-stub.Input:
			if chunk == nil {
				stub.Close()
				return
			}
			if !bytes.HasSuffix(chunk.Data, []byte("COMMIT")) || rand.IntN(100) >= t.Percent { //nolint:gosec // not a secret
				stub.Output <- chunk
				continue
			}
			if rand.IntN(3) > 0 { //nolint:gosec // not a secret
				stub.Output <- &stream.StreamChunk{Data: chunk.Data, Timestamp: chunk.Timestamp}
				time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) //nolint:gosec // not a secret
			}
			stub.Close()
			return
		}
	}
}
