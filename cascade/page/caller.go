package page

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"strings"

	"github.com/onerow/onerow/cascade/internal/output"
)

// caller is who has sent a request, and what he may.
type caller struct {
	name string // of the token, or from the proxy; "" for nobody in particular
	act  bool   // he may press buttons
	out  bool   // he can sign out, which basic authentication does not know
}

// locked says whether people have to say who they are.
func (p *Page) locked() bool { return len(p.tokens) > 0 || len(p.proxies) > 0 }

// who has sent the request; in is false for nobody who may look. A proxy's word says who acts; what he may is
// his token's matter, where there is one.
func (p *Page) who(r *http.Request) (c caller, in bool) {
	if !p.locked() {
		return caller{act: p.local}, true
	}
	c, in = p.byToken(r)
	if name := p.fromProxy(r); name != "" {
		return caller{name: name, act: c.act || !in, out: c.out}, true
	}
	return c, in
}

// byToken is who has sent the request, by a token of his own.
func (p *Page) byToken(r *http.Request) (caller, bool) {
	if sent := given(r); sent != nothing {
		c, known := p.authorized(r)
		c.out = sent == bearer
		return c, known
	}
	cookie, err := r.Cookie(p.sessions.cookie)
	if err != nil {
		return caller{}, false
	}
	return p.sessions.who(cookie.Value)
}

// scheme is how a request brings a token itself.
type scheme int

const (
	nothing scheme = iota
	bearer         // which no browser sends by itself
	basic          // which a browser sends by itself, as it does a cookie
)

func given(r *http.Request) scheme {
	if _, _, found := r.BasicAuth(); found {
		return basic
	}
	if strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		return bearer
	}
	return nothing
}

// authorized is whose token the request brings. As a password it needs the token's name as the user.
func (p *Page) authorized(r *http.Request) (caller, bool) {
	if user, password, found := r.BasicAuth(); found {
		c, known := p.token(password)
		if subtle.ConstantTimeCompare([]byte(user), []byte(c.name)) != 1 || !known {
			return caller{}, false
		}
		return c, true
	}
	return p.token(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
}

// token is whose token was given, and whether there is such a one. It compares in a time that tells nothing,
// not even the length.
func (p *Page) token(given string) (found caller, known bool) {
	for secret, c := range p.tokens {
		a := sha256.Sum256([]byte(strings.TrimPrefix(given, c.name+":"))) // or with its name, as it was set
		b := sha256.Sum256([]byte(secret))
		if subtle.ConstantTimeCompare(a[:], b[:]) == 1 {
			found, known = c, true
		}
	}
	return found, known
}

// maxUser is how much of a name that a proxy says is kept, in bytes.
const maxUser = 64

// fromProxy is who has signed in at a listed proxy. From any other address the header counts for nothing, and
// so does one that is empty or there twice: one of the two might be the client's own.
func (p *Page) fromProxy(r *http.Request) string {
	said := r.Header.Values(p.proxyUser)
	if len(said) != 1 || !p.isProxy(r.RemoteAddr) {
		return ""
	}
	return output.Shorten(output.Printable(strings.TrimSpace(said[0])), maxUser)
}

// isProxy says whether the peer itself is listed; what it says of other addresses is not read.
func (p *Page) isProxy(peer string) bool {
	at, err := netip.ParseAddrPort(peer)
	if err != nil {
		return false
	}
	addr := at.Addr().Unmap().WithZone("")
	for _, listed := range p.proxies {
		if listed.Contains(addr) {
			return true
		}
	}
	return false
}

// unmapped is a prefix as peers are compared with it: of IPv4 where it is of IPv4 within IPv6.
func unmapped(prefix netip.Prefix) netip.Prefix {
	if prefix.Addr().Is4In6() && prefix.Bits() >= 96 {
		return netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
	}
	return prefix
}
