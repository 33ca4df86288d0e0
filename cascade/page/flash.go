package page

import (
	"encoding/base64"
	"net/http"

	"github.com/onerow/onerow/cascade/internal/output"
)

const (
	flashCookie  = "onerow_message"
	flashSeconds = 60
)

// flash is what the page says after a post. It travels in a cookie through the
// redirect, so that a reload does not say it again and any worker can show it.
type flash struct {
	Bad  bool
	Text string
}

func (p *Page) setFlash(w http.ResponseWriter, r *http.Request, f flash) {
	kind := "+"
	if f.Bad {
		kind = "-"
	}
	p.setCookie(w, r, flashCookie, base64.RawURLEncoding.EncodeToString([]byte(kind+output.Shorten(f.Text, 600))), flashSeconds)
}

func (p *Page) takeFlash(w http.ResponseWriter, r *http.Request) *flash {
	cookie, err := r.Cookie(flashCookie)
	if err != nil {
		return nil
	}
	p.setCookie(w, r, flashCookie, "", -1)
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || len(text) < 2 {
		return nil
	}
	return &flash{Bad: text[0] == '-', Text: output.Printable(string(text[1:]))}
}
