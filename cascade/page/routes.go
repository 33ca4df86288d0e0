package page

import (
	"net/http"

	"github.com/onerow/onerow/cascade/queue"
)

// posts are all that change something, by their path: buttons.
func (p *Page) posts() map[string]action {
	return map[string]action{
		"/pause": p.pause, "/resume": p.resume, "/pause-resource": p.pauseResource, "/resume-resource": p.resumeResource, "/settings": p.set, "/settings/default": p.setDefault, "/enqueue": p.enqueue,
		"/jobs/{id}/retry":  p.onJob("Job %[1]d (%[2]s) is tried again.", "job %[1]d is %[3]s, so there is nothing to retry: somebody was faster", queue.Retry),
		"/jobs/{id}/pause":  p.pauseJob,
		"/jobs/{id}/resume": p.onJob("Job %[1]d (%[2]s) is %[3]s.", "job %[1]d is %[3]s: no worker takes it", queue.ResumeJob),
		"/jobs/{id}/first":  p.onJob("Job %[1]d (%[2]s) is the next one.", "job %[1]d does not wait for a worker any more: it is %[3]s", queue.PutFirst),
		"/jobs/{id}/undo":   p.undoJob, "/jobs/{id}/cancel": p.cancelJob, "/jobs/{id}/restore": p.askRestore, "/jobs/{id}/expire": p.expireTrash,
		"/parked/{id}/retry":     p.onJob("The row is tried again with job %[1]d (%[2]s).", "job %[1]d is %[3]s", queue.RetryParked),
		"/parked/{id}/skip":      p.onJob("The row is skipped: it stays, and so does what is above it. Job %[1]d is %[3]s.", "job %[1]d is %[3]s", queue.SkipParked),
		"/errors/{digest}/retry": p.retryAll, "/errors/{digest}/skip": p.skipAll,
		"/dead/retry": p.retryDead, "/scheduled/cancel": p.undoAll,
		"/key/release": p.releaseKey(), "/key/complete": p.completeKey(), "/key/expire": p.expireKey(),
	}
}

// questions are asked before what cannot be taken back, by their path.
func (p *Page) questions() map[string]question {
	return map[string]question{
		"/jobs/{id}/undo": p.questionUndo, "/jobs/{id}/cancel": p.questionCancel, "/jobs/{id}/restore": p.questionRestore, "/jobs/{id}/expire": p.questionExpire,
		"/errors/{digest}/skip": p.questionSkip, "/dead/retry": p.questionRetryDead, "/scheduled/cancel": p.questionUndoAll,
		"/key/release": p.questionRelease(), "/key/complete": p.questionComplete(), "/key/expire": p.questionForget(),
	}
}

func (p *Page) routes(metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", p.healthz)
	mux.HandleFunc("GET /readyz", p.readyz)
	if metrics != nil {
		mux.Handle("GET /metrics", metrics)
	}
	mux.HandleFunc("GET /static/{name}", p.staticFile)
	mux.HandleFunc("GET /{$}", p.show("home", p.home))
	mux.HandleFunc("GET /live", p.show("board", p.home))
	mux.HandleFunc("GET /login", p.showLogin)
	mux.HandleFunc("GET /basic", p.basic)
	mux.HandleFunc("POST /login", p.login)
	mux.HandleFunc("POST /logout", p.logout)
	mux.HandleFunc("GET /jobs/{id}", p.show("jobreport", p.oneJob))
	mux.HandleFunc("GET /jobs/{id}/live", p.show("jobboard", p.oneJob))
	mux.HandleFunc("GET /search", p.search)
	mux.HandleFunc("GET /trash", p.show("trash", p.trash))
	mux.HandleFunc("GET /retention", p.showWithin(actTimeout, "retention", p.retention))
	mux.HandleFunc("GET /keys", p.show("keys", p.keys))
	mux.HandleFunc("GET /key", p.show("key", p.oneKey))
	mux.HandleFunc("GET /serials", p.show("serials", p.serials))
	mux.HandleFunc("GET /series", p.showWithin(actTimeout, "series", p.oneSeries))
	mux.HandleFunc("GET /limits", p.show("limits", p.limits))
	mux.HandleFunc("GET /letters", p.show("letters", p.letters))
	mux.HandleFunc("GET /delete", p.show("delete", p.whatGoes))
	for path, question := range p.questions() {
		mux.HandleFunc("GET "+path, p.ask(question))
	}
	for path, action := range p.posts() {
		mux.HandleFunc("POST "+path, p.act(action))
	}
	return p.guard(p.lost(mux))
}
