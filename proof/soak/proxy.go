package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// proxy is the way of a process to the server.
type proxy struct {
	*toxiproxy.Proxy
	moving sync.Mutex // it is cut, or led elsewhere
}

func newProxies(n int, upstream string) ([]*proxy, error) {
	toxics.Register(commitKind, new(commitToxic))
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	var all []*proxy
	for i := range n {
		p, err := newProxy(api, fmt.Sprint("proxy-", i), upstream)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// A proxy keeps its port while it is closed for a moment, when any process could take it. Systems give ports
// from 32768 on to connections and to who asks for any; these are below.
const (
	firstPort = 15000
	ports     = 15000
	portTries = 20
)

func newProxy(api *toxiproxy.ApiServer, name, upstream string) (*proxy, error) {
	for try := 1; ; try++ {
		listen := fmt.Sprint("127.0.0.1:", firstPort+rand.IntN(ports)) //nolint:gosec // not a secret
		p := &proxy{Proxy: toxiproxy.NewProxy(api, name, listen, upstream)}
		err := p.Start()
		if err == nil {
			return p, nil
		}
		if try == portTries {
			return nil, fmt.Errorf("soak: start a proxy, after %d tries: %w", try, err)
		}
	}
}

// to leads the proxy to another address; its own stays. All connections are cut, unless it leads there
// already.
func (p *proxy) to(upstream string) error {
	p.moving.Lock()
	defer p.moving.Unlock()
	if p.Upstream == upstream {
		return nil
	}
	next := toxiproxy.Proxy{Listen: p.Listen, Upstream: upstream, Enabled: true}
	if err := p.Update(&next); err != nil {
		return fmt.Errorf("soak: move a proxy: %w", err)
	}
	return nil
}

// cut closes all its connections, and refuses new ones for a while.
func (p *proxy) cut(ctx context.Context, d time.Duration) error {
	p.moving.Lock()
	defer p.moving.Unlock()
	p.Stop()
	pause(ctx, d)
	return p.again(ctx)
}

// again starts a proxy that was stopped. Its port may be somebody's for a moment: of a connection that is
// ending.
func (p *proxy) again(ctx context.Context) error {
	var err error
	for range 50 {
		if err = p.Start(); err == nil {
			return nil
		}
		pause(context.WithoutCancel(ctx), 100*time.Millisecond)
	}
	return fmt.Errorf("soak: start a proxy again: %w", err)
}

// toxic is one of toxiproxy's, as its interface takes it.
type toxic struct {
	Name       string         `json:"name"`
	Type       string         `json:"type"`
	Stream     string         `json:"stream"`
	Toxicity   float64        `json:"toxicity"`
	Attributes map[string]int `json:"attributes"`
}

// toxicKinds are the toxics of a soak, besides the cut. After limit_data a connection ends in the middle of
// an answer.
var toxicKinds = []string{"latency", "timeout", "reset_peer", "slicer", "limit_data", commitKind, commitKind}

func drawToxic(r *rand.Rand) toxic {
	t := toxic{Type: toxicKinds[r.IntN(len(toxicKinds))], Stream: "downstream", Toxicity: 0.1 + 0.5*r.Float64()}
	if r.IntN(2) == 0 {
		t.Stream = "upstream"
	}
	switch t.Type {
	case "latency":
		t.Attributes = map[string]int{"latency": 5 + r.IntN(150), "jitter": r.IntN(50)}
	case "timeout": // nothing passes; the connection is closed in the end
		t.Attributes = map[string]int{"timeout": 100 + r.IntN(1500)}
	case "reset_peer":
		t.Attributes = map[string]int{"timeout": r.IntN(300)}
	case "limit_data":
		t.Attributes = map[string]int{"bytes": 300 + r.IntN(1500)}
		t.Toxicity = 0.5 + 0.5*r.Float64()
	case commitKind:
		t.Stream, t.Toxicity = "upstream", 1
		t.Attributes = map[string]int{"percent": 2 + r.IntN(40)}
	case "slicer":
		t.Attributes = map[string]int{"average_size": 20 + r.IntN(80), "size_variation": 10, "delay": r.IntN(3000)}
	}
	t.Name = t.Type
	return t
}

// poison applies a toxic for a while.
func (p *proxy) poison(ctx context.Context, t toxic, d time.Duration) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if _, err := p.Toxics.AddToxicJson(strings.NewReader(string(text))); err != nil {
		return fmt.Errorf("soak: add the toxic %s: %w", text, err)
	}
	pause(ctx, d)
	if err := p.Toxics.RemoveToxic(context.WithoutCancel(ctx), t.Name); err != nil {
		return fmt.Errorf("soak: remove the toxic %s: %w", t.Name, err)
	}
	return nil
}
