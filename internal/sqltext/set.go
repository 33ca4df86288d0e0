package sqltext

import "strings"

type setting struct {
	name   string // of the variable, in lower case; empty: a user's
	value  string // a word, number or string, without its quotes
	known  bool   // the text shows the value; of DEFAULT it does not
	global bool   // this session's value stays what it is
}

func (p *parser) set() {
	kind, global := Set, false // a keyword that the servers may take to be for what follows, too
	for {
		v, ok := p.setting(&global)
		if !ok {
			return
		}
		if kind = p.assigned(kind, v); kind == Unclear {
			return
		}
		if !p.acceptByte(',') {
			p.ends(kind)
			return
		}
	}
}

// assigned notes what an assignment does to the session, and returns the kind of the whole statement.
func (p *parser) assigned(kind Kind, v setting) Kind {
	if v.global {
		return kind
	}
	switch v.name {
	case "sql_mode", "character_set_client", "names", "character set":
		p.st.SetsMode = true
	case "completion_type":
		p.st.SetsChain = !v.known || v.value != "0" && !strings.EqualFold(v.value, "NO_CHAIN")
	case "autocommit":
		switch a := strings.ToLower(v.value); {
		case !v.known, kind != Set: // off and on commits
		case a == "1", a == "on", a == "true":
			return AutocommitOn
		case a == "0", a == "off", a == "false":
			return AutocommitOff
		}
		return Unclear
	}
	return kind
}

// setting reads an assignment, up to the comma or the end.
func (p *parser) setting(global *bool) (v setting, ok bool) {
	if p.isByte('@') {
		return p.variable()
	}
	var scoped bool
	v.global, scoped = p.scope()
	*global = *global || v.global
	switch {
	case p.is("STATEMENT"), p.is("PASSWORD"), p.is("DEFAULT"), p.is("RESOURCE"):
		return v, false
	case p.accept("TRANSACTION"):
		v.name = "transaction"
	case !scoped && p.accept("NAMES"):
		v.name = "names"
	case !scoped && p.accept("CHARSET"):
		v.name = "character set"
	case !scoped && (p.accept("CHARACTER") || p.accept("CHAR")):
		if !p.accept("SET") {
			return v, false
		}
		v.name = "character set"
	}
	switch {
	case v.name != "":
		ok = !p.assigns() // else it is a variable that is called so
	case !p.variableName(&v):
		return v, false
	case v.name != "role" || p.assigns():
		return v, (scoped || !*global) && p.value(&v)
	default:
		ok = true
	}
	p.skipSetting()
	return v, ok
}

// scope reads a word that says whose value is set: that of all sessions, or of this one.
func (p *parser) scope() (global, said bool) {
	switch {
	case p.accept("GLOBAL"), p.accept("PERSIST"), p.accept("PERSIST_ONLY"):
		return true, true
	case p.accept("SESSION"), p.accept("LOCAL"):
		return false, true
	}
	return false, false
}

func (p *parser) variable() (v setting, ok bool) {
	if p.next(); p.gap {
		return v, false
	}
	if !p.acceptByte('@') { // a user's
		for p.tok != end && p.tok != semicolon && p.tok != bad && !p.assigns() {
			p.next()
		}
		return v, p.value(&v)
	}
	before := p.scanner
	if global, said := p.scope(); said && p.acceptByte('.') {
		v.global = global
	} else {
		p.scanner = before
	}
	return v, p.variableName(&v) && p.value(&v)
}

func (p *parser) variableName(v *setting) bool {
	if p.tok != word && p.tok != quoted {
		return false
	}
	v.name = strings.ToLower(unquote(p.raw()))
	p.next()
	return true
}

func (p *parser) value(v *setting) bool {
	if !p.assigns() {
		return false
	}
	p.next()
	first := p.scanner
	p.skipSetting()
	behind := first
	behind.next()
	one := first.tok == word || first.tok == literal || first.tok == quoted
	if v.known = one && behind.start == p.start && !first.is("DEFAULT"); v.known {
		v.value = unquote(first.raw())
	}
	return p.start != first.start
}

func (p *parser) assigns() bool { return p.isByte('=') || p.tok == assign }

// skipSetting reads up to the comma or the end.
func (p *parser) skipSetting() { p.tokens(body{kind: Unclear, listed: true}) }
