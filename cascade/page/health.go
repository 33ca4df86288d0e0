package page

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/onerow/onerow/cascade/internal/fit"
	"github.com/onerow/onerow/schema"
)

const (
	probeTimeout = 3 * time.Second
	readyFor     = 15 * time.Second // how long "ready" is believed
	unreadyFor   = 2 * time.Second  // and how long a reason
)

// health answers probes. What it found is believed for a while, so that probes cost a
// busy database next to nothing.
type health struct {
	db   *sql.DB
	plan schema.Plan

	mu      sync.Mutex
	reasons []string
	checked time.Time
}

// unready says why the worker cannot work; nothing when it can. The reasons say nothing
// of the data, for anybody may ask. The database is pinged on each request, but while a reason is believed.
func (h *health) unready(ctx context.Context) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	// Not the probe's own context: one that hangs up must not leave a reason behind.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
	defer cancel()
	if len(h.reasons) > 0 && time.Since(h.checked) < unreadyFor {
		return h.reasons
	}
	switch err := h.db.PingContext(ctx); {
	case err != nil:
		h.reasons = []string{"the database cannot be reached"}
	case len(h.reasons) == 0 && time.Since(h.checked) < readyFor:
		return nil
	default:
		h.reasons = fit.Unready(ctx, h.db, h.plan)
	}
	h.checked = time.Now()
	return h.reasons
}

// healthz: the process answers.
func (p *Page) healthz(w http.ResponseWriter, r *http.Request) { p.plain(w, r, http.StatusOK, "ok") }

// readyz: the worker can work, or why it cannot.
func (p *Page) readyz(w http.ResponseWriter, r *http.Request) {
	if reasons := p.health.unready(r.Context()); len(reasons) > 0 {
		p.plain(w, r, http.StatusServiceUnavailable, "not ready: "+strings.Join(reasons, "; "))
		return
	}
	p.plain(w, r, http.StatusOK, "ready")
}

func (p *Page) plain(w http.ResponseWriter, r *http.Request, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	if _, err := fmt.Fprintln(w, text); err != nil {
		p.log.DebugContext(r.Context(), "probe: the client is gone", "error", err)
	}
}
