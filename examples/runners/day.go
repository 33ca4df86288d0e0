package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/onerow/onerow/ordering"
)

// ping is what a device sends every 30 seconds.
type ping struct {
	User   int64 `json:"user_id"`
	Meters int64 `json:"distance_meters"` // since the last one
	At     int64 `json:"timestamp_utc"`   // seconds since 1970, by the device's clock
	Seq    int64 `json:"sequence_id"`     // from 1, of this user's device
	Run    int64 `json:"run_id"`
}

// message is the ping as package ordering takes it: each user's device is a stream.
func (p ping) message() (ordering.Message, error) {
	body, err := json.Marshal(p)
	return ordering.Message{Stream: fmt.Sprintf("user/%d", p.User), Sequence: p.Seq, Payload: body}, err
}

const (
	users    = 3
	runs     = 2  // of each user
	perRun   = 12 // messages
	interval = 30 // seconds between messages
	morning  = 1_767_258_000
)

// day makes what the devices send, in the order of users and sequences.
func day(rnd *rand.Rand) (pings []ping) {
	for user := int64(1); user <= users; user++ {
		seq := int64(0)
		for r := range int64(runs) {
			start := morning + r*4*3600 + rnd.Int64N(600)
			for range perRun {
				seq++
				pings = append(pings, ping{User: user, Meters: 70 + 5*rnd.Int64N(9), At: start + seq*interval, Seq: seq, Run: 10*user + r + 1})
			}
		}
	}
	return pings
}

// delivery is a ping on its way to the consumers.
type delivery struct {
	ping
	arrives int64    // when, by the network's clock
	dies    [2]death // what happens to the two consumers meanwhile
}

// death is after how many writes of its transaction a consumer dies.
type death int

const (
	never death = -1
	// Three writes are the message's, the context is the fourth.
	beforeContext death = 3
	// afterCommit and before the message is acknowledged. A message that writes nothing dies
	// here, too, wherever it should.
	afterCommit death = 4
)

// deliveries makes the network: most messages arrive at once, some late, because the runner was in
// a tunnel, and some twice, because the device has not heard that they arrived.
func deliveries(rnd *rand.Rand, pings []ping) (all []delivery) {
	for _, p := range pings {
		for copies := 1 + rnd.IntN(4)/3; copies > 0; copies-- {
			d := delivery{ping: p, arrives: p.At + rnd.Int64N(interval/2), dies: [2]death{never, never}}
			if rnd.IntN(4) == 0 {
				d.arrives += rnd.Int64N(6 * interval)
			}
			for consumer := range d.dies {
				if rnd.IntN(5) == 0 {
					d.dies[consumer] = death(rnd.IntN(int(afterCommit) + 1))
				}
			}
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b delivery) int { return cmp.Compare(a.arrives, b.arrives) })
	return all
}

// raising are the messages that raised the maximum of their user, in the order of their
// delivery, which is the order of their numbers.
func raising(delivered []delivery) (all []ping) {
	last := map[int64]int64{}
	for _, d := range delivered {
		if d.Seq > last[d.User] {
			all, last[d.User] = append(all, d.ping), d.Seq
		}
	}
	return all
}
