package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// work is something that users have done, in several ways.
type work struct {
	name    string
	clients int
	// ways makes what they need. The first one is what the database does alone.
	ways func(ctx context.Context, s *site) ([]way, error)
}

// way is how it may be done.
type way struct {
	name string
	// call does it once. n is another number for each call.
	call func(ctx context.Context, client int, n int64) error
	// all does very many at once, instead of call: as many as it returns, in the time that it returns. Its
	// latencies are those of its transactions.
	all func(ctx context.Context) (int, time.Duration, error)
	// ready is called before, each time.
	ready func(ctx context.Context) error
	// every is how often each client calls; 0: as soon as it has its answer. Then a latency counts from the
	// moment at which the call was due.
	every time.Duration
	// beside goes on meanwhile, until its context ends. What is measured begins so long after it.
	beside func(ctx context.Context) error
	settle time.Duration
	// least is how long it is measured at least: few calls have no 99th percentile.
	least time.Duration
	// note is something else to say of it afterwards.
	note func() string
	// aim is what is wanted of it: a share of another way's rate.
	aim aim
}

// aim is a share of the rate of another way of the same work, or the most that its 99th percentile may be
// multiplied by; the zero aim: none.
type aim struct {
	of    string
	share float64
	p99   float64
}

// sample is one measurement of a way.
type sample struct {
	perSecond             float64
	latencies             []time.Duration
	statements, packets   float64 // for each call
	allocations           float64
	clients, server       float64 // seconds of processors for each call
	deadlocks, starvation int64
}

// once measures a way for a time.
func once(ctx context.Context, s *site, clients int, w way, period time.Duration, next *int64) (m sample, err error) {
	if w.ready != nil {
		if err := w.ready(ctx); err != nil {
			return m, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	statements, deadlocks, err := s.status(ctx)
	if err != nil {
		return m, err
	}
	usedBefore, err := s.used(ctx)
	if err != nil {
		return m, err
	}
	sent := s.packets.Load()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done, took := 0, time.Duration(0)
	if w.all != nil {
		m.latencies, err = s.timed(func() (err error) {
			done, took, err = w.all(ctx)
			return err
		})
	} else {
		done, took, err = s.clients(ctx, clients, w, period, next, &m)
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", w.name, err)
	}
	runtime.ReadMemStats(&after)
	usedAfter, err := s.used(ctx)
	if err != nil {
		return m, err
	}
	packets := s.packets.Load() - sent
	nowStatements, nowDeadlocks, err := s.status(ctx)
	if err != nil {
		return m, err
	}
	if done == 0 {
		return m, fmt.Errorf("%s: not one call ended in %s", w.name, period)
	}
	n := float64(done)
	m.perSecond = n / took.Seconds()
	m.statements, m.packets, m.allocations = float64(nowStatements-statements-1)/n, float64(packets)/n, float64(after.Mallocs-before.Mallocs)/n
	used := usedAfter.since(usedBefore)
	m.clients, m.server = used.clients.Seconds()/n, used.server.Seconds()/n
	m.deadlocks = nowDeadlocks - deadlocks
	return m, nil
}

// apartBy is how far the numbers of two clients lie apart.
const apartBy = 1_000_000_000

// clients has each client call for a time.
func (s *site) clients(ctx context.Context, clients int, w way, period time.Duration, next *int64, m *sample) (int, time.Duration, error) {
	base := *next
	*next += int64(clients) * apartBy
	latencies, errs := make([][]time.Duration, clients), make([]error, clients)
	stop := start(ctx, w.beside)
	begin := time.Now()
	settled := begin.Add(w.settle)
	end := settled.Add(period)
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			due := begin.Add(w.every * time.Duration(c) / time.Duration(clients))
			for n := base + int64(c)*apartBy; ctx.Err() == nil; n++ {
				at := time.Now()
				if w.every > 0 {
					time.Sleep(due.Sub(at))
					at, due = due, due.Add(w.every)
				}
				if at.After(end) {
					return
				}
				if errs[c] = w.call(ctx, c, n); errs[c] != nil {
					return
				}
				if at.After(settled) {
					latencies[c] = append(latencies[c], time.Since(at))
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(settled)
	err := stop()
	for _, list := range latencies {
		m.latencies = append(m.latencies, list...)
	}
	for _, list := range latencies { // one that came to less than a quarter of its share
		if len(list)*4*clients < len(m.latencies) {
			m.starvation++
		}
	}
	return len(m.latencies), took, errors.Join(append(errs, err, ctx.Err())...)
}

// start begins what goes on beside clients, and returns how to end it.
func start(ctx context.Context, beside func(ctx context.Context) error) (stop func() error) {
	if beside == nil {
		return func() error { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- beside(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// figures are what a report says of a way.
type figures struct {
	Way         string        `json:"way"`
	PerSecond   float64       `json:"per_second"`
	Ratio       float64       `json:"ratio"` // to the first way
	P50         time.Duration `json:"p50_ns,omitempty"`
	P99         time.Duration `json:"p99_ns,omitempty"`
	Max         time.Duration `json:"max_ns,omitempty"`
	Statements  float64       `json:"statements"`
	Packets     float64       `json:"packets"`
	Allocations float64       `json:"allocations"`
	Clients     time.Duration `json:"clients_ns"` // of processors, for each call
	Server      time.Duration `json:"server_ns"`
	Deadlocks   int64         `json:"deadlocks"`
	Starved     int64         `json:"starved"`
	Aim         string        `json:"aim,omitempty"`
	Reached     float64       `json:"reached,omitempty"` // of what the aim names, as a share of its rate
	Met         bool          `json:"met,omitempty"`
	Note        string        `json:"note,omitempty"`
}

// compare measures the ways of a work in turns.
func compare(ctx context.Context, s *site, w work, o options) ([]figures, error) {
	ways, err := w.ways(ctx, s)
	if err != nil {
		return nil, err
	}
	samples := make([][]sample, len(ways))
	var next int64 = 1
	for round := range o.Rounds {
		for i := range ways {
			at := (i + round) % len(ways)
			if round == 0 && ways[at].call != nil { // connections, plans, pages
				if _, err := once(ctx, s, w.clients, ways[at], o.Period/10, &next); err != nil {
					return nil, err
				}
			}
			m, err := once(ctx, s, w.clients, ways[at], max(o.Period, ways[at].least), &next)
			if err != nil {
				return nil, err
			}
			samples[at] = append(samples[at], m)
		}
	}
	list := make([]figures, len(ways))
	for i, this := range ways {
		list[i] = summed(this.name, samples[i])
		list[i].Ratio = ratio(samples[i], samples[0], func(m sample) float64 { return m.perSecond })
		if this.note != nil {
			list[i].Note = this.note()
		}
		if at := slices.IndexFunc(ways, func(o way) bool { return o.name == this.aim.of }); at >= 0 {
			list[i].Aim = fmt.Sprintf("≥ %.2f of %s", this.aim.share, this.aim.of)
			list[i].Reached = ratio(samples[i], samples[at], func(m sample) float64 { return m.perSecond })
			list[i].Met = list[i].Reached >= this.aim.share
			if this.aim.p99 > 0 {
				list[i].Aim = fmt.Sprintf("p99 ≤ %.2f of %s", this.aim.p99, this.aim.of)
				list[i].Reached = ratio(samples[i], samples[at], sample.p99)
				list[i].Met = list[i].Reached <= this.aim.p99
			}
		}
	}
	return list, nil
}

// ratio is the median of the rounds' ratios: what a round has in common, both have.
func ratio(a, b []sample, of func(sample) float64) float64 {
	list := make([]float64, len(a))
	for i := range a {
		list[i] = of(a[i]) / of(b[i])
	}
	return median(list)
}

func (m sample) p99() float64 {
	if len(m.latencies) == 0 {
		return 0
	}
	list := slices.Sorted(slices.Values(m.latencies))
	return list[len(list)*99/100].Seconds()
}

func summed(name string, samples []sample) figures {
	each := func(of func(sample) float64) float64 {
		list := make([]float64, len(samples))
		for i, m := range samples {
			list[i] = of(m)
		}
		return median(list)
	}
	f := figures{Way: name, PerSecond: each(func(m sample) float64 { return m.perSecond }), Statements: each(func(m sample) float64 { return m.statements }),
		Packets: each(func(m sample) float64 { return m.packets }), Allocations: each(func(m sample) float64 { return m.allocations }),
		Clients: seconds(each(func(m sample) float64 { return m.clients })), Server: seconds(each(func(m sample) float64 { return m.server }))}
	var latencies []time.Duration
	for _, m := range samples {
		latencies = append(latencies, m.latencies...)
		f.Deadlocks, f.Starved = f.Deadlocks+m.deadlocks, f.Starved+m.starvation
	}
	if slices.Sort(latencies); len(latencies) > 0 {
		f.P50, f.P99, f.Max = latencies[len(latencies)/2], latencies[len(latencies)*99/100], latencies[len(latencies)-1]
	}
	return f
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
