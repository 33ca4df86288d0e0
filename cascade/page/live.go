package page

import (
	"net/http"
	"strconv"
)

// home is the page: the board as it is now, which page.js keeps up to date.
func (p *Page) home(w http.ResponseWriter, r *http.Request) {
	p.render(w, r, http.StatusOK, "home", p.view(p.watch.read(r.Context())))
}

// live is the board alone. It is polled rather than streamed: nothing is open while a
// client is slow or away, and proxies have nothing to keep or to cut. An unchanged board is a 304.
func (p *Page) live(w http.ResponseWriter, r *http.Request) {
	p.send(w, r, http.StatusOK, "board", p.view(p.watch.read(r.Context())))
}

// jobID is the number in the address; 0 for what is none.
func jobID(r *http.Request) int64 {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		return 0
	}
	return id
}
