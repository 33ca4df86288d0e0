package sqltext

// body says how the tokens of a statement are read.
type body struct {
	kind   Kind
	target bool // names with a parenthesis are the table, not a function
	named  bool // likewise, of common table expressions; the main verb says the kind
	listed bool // ends at a comma
	depth  int  // of parentheses
}

// place is what a token is to those behind it.
type place struct {
	name string // it may be called
	dot  bool   // a dot
	as   bool   // AS, or what else may have a name with columns behind it
	next bool   // NEXT
}

// tokens reads up to the end of a statement, for what it calls and the placeholders.
func (p *parser) tokens(b body) {
	var earlier, before place
	for ; ; p.next() {
		var at place
		switch p.tok {
		case end, semicolon, bad:
			p.travels = p.travels && b.depth == 0
			p.st.Kind = b.kind
			return
		case param:
			p.st.Placeholders++
		case literal, quoted:
			at.name = p.raw()
		case word:
			at.name = p.raw()
			p.keyword(&b, &at, before.next)
		case other:
			switch p.b {
			case '.':
				at.dot = true
			case '(':
				if before.name != "" && !p.known(before.name, earlier.dot) {
					p.called(&b, earlier.as)
				}
				b.depth++
			case ')':
				b.depth--
				at.as = true
			case ',':
				if b.listed && b.depth == 0 {
					p.st.Kind = b.kind
					return
				}
			}
		}
		earlier, before = before, at
	}
}

// called is for a parenthesis behind a name that is not the grammar's.
func (p *parser) called(b *body, alias bool) {
	switch {
	case b.target:
		b.target = false
	case alias, b.named && b.depth == 0:
	default:
		p.st.Calls = true
	}
}

// keyword looks at a word for what the statement is.
func (p *parser) keyword(b *body, at *place, afterNext bool) {
	var buf [maxWord]byte
	main := Unclear // what the statement is, if this is its main verb
	switch string(upper(&buf, at.name)) {
	case "AS":
		at.as = true
	case "NEXT":
		at.next = true
	case "SET":
		b.target = false
	case "INTO": // a file, or variables
		p.travels = p.travels && b.kind != Read
	case "VALUE":
		b.target = false
		p.st.Calls = p.st.Calls || afterNext // NEXT VALUE FOR a sequence writes it
	case "NEXTVAL":
		p.st.Calls = true // without parentheses in sql_mode=ORACLE
	case "SELECT", "VALUES":
		b.target = false
		main = Read
	case "TABLE":
		main = Read
	case "UPDATE", "DELETE":
		main = Write
	}
	if b.named && b.depth == 0 && main != Unclear {
		b.kind, b.named = main, false
	}
}

// known says whether a name before a parenthesis, at the token, is a keyword or a built-in function.
func (p *parser) known(name string, qualified bool) bool {
	var buf [maxWord]byte
	if qualified {
		return false
	}
	known, ok := words[string(upper(&buf, name))]
	// The name of a function with a gap behind it may be that of a stored one.
	return ok && (known == keyword || !p.gap)
}
