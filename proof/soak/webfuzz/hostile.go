package webfuzz

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

// marker is in every text that would be markup or script; what shows it must have escaped what is around it.
const marker = "onerowxss"

// scripts break out of markup, attributes, scripts, addresses and templates, if they are not escaped.
var scripts = []string{
	`<` + marker + `>`, `"><` + marker + ` x="`, `'><` + marker + `>`, `</title><` + marker + `>`, `</textarea><` + marker + `>`,
	`" ` + marker + `="1`, `' ` + marker + `='1`, `--><` + marker + `>`, `]]><` + marker + `>`, `</script><` + marker + `>`,
	`<img src=x onerror=` + marker + `>`, `<svg/onload=` + marker + `>`, `javascript:` + marker, `{{.` + marker + `}}`, `${` + marker + `}`,
	"\u2028<" + marker + ">", `&lt;` + marker + `&gt;`, `%3C` + marker + `%3E`,
}

// injections are SQL, if they are not arguments.
var injections = []string{
	`' OR '1'='1`, `' OR 1=1 -- `, `'; DROP TABLE project; -- `, `" OR ""="`, `\' OR 1=1 -- `, `\`, `1; DELETE FROM account`, "`; DROP TABLE show; `",
	`') UNION SELECT 1,2,3 -- `, `%' AND SLEEP(5) AND '%'='`, `{"$gt":""}`, `/*!50000 1 */`, `0x27 OR 1`, `%`, `_`, `%_%`, `\%`, `?`, `:1`, `?;?`, "\xbf\x27 OR 1=1 -- ",
}

// oddities are texts that are hard to store, to compare or to cut.
var oddities = []string{
	"", " ", "\t", "\x00", "a\x00b", "\xff", "\xc0\x80", "\xed\xa0\x80", "\r\nSet-Cookie: " + marker + "=1", "\n", "\u202eevil", "\u2066", "\u200b", "é", "e\u0301", "ß", "İ", "ﬀ",
	"🏳️‍🌈", "\U0010ffff", "\ufeff", "\ufffd", "NULL", "null", "undefined", "NaN", "true", "[]", "{}", "../../etc/passwd", `..\..\x`, "C:\\x", "CON", ".", "..", "-", "--help", "; ls", "$(ls)", "`ls`",
}

// ids name nothing, wherever one number or one UUID is expected.
var ids = []string{
	"0", "-1", "-9223372036854775808", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1e9", "0x10", "1%00", "%00", "%ff", "1%20or%201=1", "1'--", "1;--", "null", "NaN", "1.0",
	"%D9%A3", "..%2f1", "%2e%2e", "%2e", "%5c", "true", "1,2", "%7b%7d", "00000000-0000-0000-0000-000000000000", "zzzzzzzz-zzzz-4zzz-8zzz-zzzzzzzzzzzz", strings.Repeat("9", 4000), strings.Repeat("%30", 2000),
}

// otherHosts are names that may resolve to this machine, and that are not its own.
var otherHosts = []string{"evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "127.1", "0x7f000001", "[::1].evil.example", "localhost%00", "127.0.0.1@evil.example"}

// hosts are where a request claims to come from, with what browsers say of it.
type origin struct{ origin, site string }

// strangers are pages of others, as browsers tell of them.
var strangers = []origin{
	{"http://evil.example", "cross-site"}, {"http://evil.example", ""}, {"null", ""}, {"null", "cross-site"}, {"http://127.0.0.1", "same-site"}, {"", "cross-site"}, {"", "same-site"}, {"https://127.0.0.1:1", ""},
	{"http://127.0.0.1.evil.example", ""}, {"file://", "cross-site"},
}

// pick draws one.
func pick[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// chance is true once in n.
func chance(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// text draws what somebody may type, with the mark of whose it is, which is in no text of anybody else's.
func text(r *rand.Rand, mark string) string {
	var parts []string
	for range 1 + r.IntN(2) {
		parts = append(parts, pick(r, slices.Concat(scripts, injections, oddities)))
	}
	body := strings.Join(parts, " ")
	if chance(r, 12) {
		body = strings.Repeat("x"+body, 1+r.IntN(3000))
	}
	return fmt.Sprintf("%s-%d%s", mark, r.IntN(40), body)
}

// query draws parameters of a list: sizes, cursors and texts that no list has returned.
func query(r *rand.Rand, names ...string) string {
	values := url.Values{}
	for range 1 + r.IntN(3) {
		value := pick(r, slices.Concat(injections, oddities, []string{"-1", "0", "1", "2", "500", "501", "2147483648", "99999999999999999999", "active", "archived", "deleted", strings.Repeat("a", 8000)}))
		values.Add(pick(r, names), value)
	}
	if chance(r, 10) {
		return "?%zz=%&;&&" + values.Encode()
	}
	return "?" + values.Encode()
}

// filenames of uploads that want to be elsewhere, escaped for a path.
func filename(r *rand.Rand, mark string) string {
	name := pick(r, slices.Concat(scripts, oddities, []string{"../../../../tmp/" + marker, "/etc/" + marker, "a/b", `a\b`, "x.png", "X.PNG", "x@2x.png", ".htaccess", "x.svg", "x.html", strings.Repeat("n", 300) + ".png"}))
	if chance(r, 2) {
		name = mark + name
	}
	return url.PathEscape(name)
}

// contents of uploads, each something else than it may say.
func content(r *rand.Rand) []byte {
	body := pick(r, []string{
		"", "x", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x06\x00\x00\x00", "GIF89a\xff\xff\xff\xff\x00\x00\x00", "\xff\xd8\xff\xe0\x00\x10JFIF", "<html><script>" + marker + "</script>",
		`<svg xmlns="http://www.w3.org/2000/svg" onload="` + marker + `"/>`, "%PDF-1.7", "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>", "RIFF\x00\x00\x00\x00WEBPVP8 ",
	})
	return append([]byte(body), strings.Repeat("z", r.IntN(5000))...)
}
