package sqltext

import "strings"

// set reads the assignments of SET.
func (p *parser) set() {
	global := false // a keyword that the servers may take to be for what follows, too
	for {
		v, ok := p.setting(&global)
		if !ok {
			p.st.Kind = Unclear
			return
		}
		p.st.Sets = append(p.st.Sets, v)
		if v.Name == "autocommit" && !v.Global {
			switch a := strings.ToLower(v.Value); {
			case !v.Known, p.st.Autocommit != Unchanged: // off and on commits
				p.st.Kind = Unclear
				return
			case a == "1", a == "on", a == "true":
				p.st.Autocommit = On
			case a == "0", a == "off", a == "false":
				p.st.Autocommit = Off
			default:
				p.st.Kind = Unclear
				return
			}
		}
		if !p.isByte(',') {
			p.ends(Set)
			return
		}
		p.next()
	}
}

// setting reads one of them, up to the comma or the end.
func (p *parser) setting(global *bool) (v Setting, ok bool) {
	if p.isByte('@') {
		return p.variable()
	}
	var scoped bool
	v.Global, scoped = p.scope()
	*global = *global || v.Global
	switch {
	case p.is("STATEMENT"), p.is("PASSWORD"), p.is("DEFAULT"), p.is("RESOURCE"), p.tok != word && p.tok != quoted:
		return v, false
	case p.accept("TRANSACTION"):
		v.Name = "transaction"
	case !scoped && p.accept("NAMES"):
		v.Name = "names"
	case !scoped && p.accept("CHARSET"):
		v.Name = "character set"
	case !scoped && (p.accept("CHARACTER") || p.accept("CHAR")):
		if !p.accept("SET") {
			return v, false
		}
		v.Name = "character set"
	}
	if v.Name != "" {
		if p.isByte('=') || p.tok == assign { // a variable that is called so
			return v, false
		}
		p.skipSetting()
		return v, true
	}
	v.Name = strings.ToLower(unquote(p.raw()))
	p.next()
	if v.Name == "role" && !p.isByte('=') && p.tok != assign {
		p.skipSetting()
		return v, true
	}
	if !scoped && *global {
		return v, false
	}
	return v, p.value(&v)
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

// variable reads what begins with @.
func (p *parser) variable() (v Setting, ok bool) {
	from := p.start
	p.next()
	if p.gap {
		return v, false
	}
	if !p.isByte('@') { // a user's
		for p.tok != end && p.tok != semicolon && p.tok != bad && !p.isByte('=') && p.tok != assign {
			p.next()
		}
		if p.tok == bad {
			return v, false
		}
		v.Name = strings.ToLower(strings.TrimRight(p.text[from:p.start], " \t\r\n\v\f"))
		return v, p.value(&v)
	}
	p.next()
	before := p.scanner
	if global, said := p.scope(); said && p.isByte('.') {
		v.Global = global
		p.next()
	} else {
		p.scanner = before
	}
	if p.tok != word && p.tok != quoted {
		return v, false
	}
	v.Name = strings.ToLower(unquote(p.raw()))
	p.next()
	return v, p.value(&v)
}

// value reads the assignment.
func (p *parser) value(v *Setting) bool {
	if !p.isByte('=') && p.tok != assign {
		return false
	}
	p.next()
	first := p.scanner
	p.skipSetting()
	switch {
	case p.start == first.start: // nothing
		return false
	case first.tok != word && first.tok != literal && first.tok != quoted, strings.EqualFold(first.raw(), "DEFAULT"):
		return true
	}
	rest := first
	if rest.next(); rest.start == p.start {
		v.Value, v.Known = unquote(first.raw()), true
	}
	return true
}

// skipSetting reads up to the comma or the end.
func (p *parser) skipSetting() { p.tokens(body{kind: Unclear, listed: true}) }
