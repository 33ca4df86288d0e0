package pages

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/examples/projects/internal/web"
	"github.com/onerow/onerow/quota"
)

// functions are what the templates can call.
func functions(version string) template.FuncMap {
	return template.FuncMap{
		"static":   func(name string) string { return "/static/" + version + "/" + name },
		"date":     func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04") + " UTC" },
		"second":   func(t time.Time) string { return t.UTC().Format("15:04:05") + " UTC" },
		"iso":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"size":     formatSize,
		"fileURL":  web.FileURL,
		"thumbURL": web.ThumbURL,
		"limit":    limitText,
		"tiers":    store.Tiers,
		"picture":  isPicture,
		"count":    countText,
		"isolated": isolated,
	}
}

// isolated keeps what a user has typed from reordering the sentence that it stands in, as <bdi> does
// where there is markup. A name may be of a script that is written from the right, so none of its
// characters is refused; only those that would end the isolation are left out.
func isolated(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= '\u2066' && r <= '\u2069' {
			return -1
		}
		return r
	}, name)
	return "\u2068" + name + "\u2069"
}

func formatSize(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return oneDigit(float64(n)/(1<<10)) + " KB"
	}
	return oneDigit(float64(n)/(1<<20)) + " MB"
}

func oneDigit(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }

func countText(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// limitText says how many projects a tier allows.
func limitText(t store.Tier) string {
	limit, ok := t.Limit()
	switch {
	case !ok:
		return "unknown"
	case limit == quota.Unlimited:
		return "unlimited"
	}
	return fmt.Sprintf("%d projects", limit)
}

// statics are the files that static serves.
var statics = map[string]string{"app.css": "static/app.css", "app.js": "static/app.js", "icon.svg": "static/icon.svg"}

// static serves the style sheet and the script. Their address changes with them.
func (p *Pages) static(w http.ResponseWriter, r *http.Request) error {
	name, ok := statics[r.PathValue("name")]
	if !ok {
		return problem.New(http.StatusNotFound, "There is no page under this address.")
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeFileFS(w, r, files, name)
	return nil
}
